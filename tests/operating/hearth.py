"""A server for production, for tests of what its operator reads and reads about."""

import os
import pathlib
import select
import signal
import subprocess
import tempfile

DEADLINE_S = 60
TREE = pathlib.Path(__file__).resolve().parents[2]
HEARTH = os.environ.get('HEARTH_BIN', str(TREE / 'target/debug/hearth'))
CREDENTIAL = 'a-credential-that-only-these-tests-know'
RULES = '{"rules": {".read": true, ".write": true, ".indexOn": [".value", "height"]}}'


class Server:
    """One that keeps nothing, with these databases."""

    def __init__(self, *namespaces):
        self.folder = tempfile.TemporaryDirectory()
        rules = pathlib.Path(self.folder.name, 'rules.json')
        rules.write_text(RULES)
        self.said = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(
            [HEARTH, 'serve', '--memory', '--port', '0', '--rules', rules, '--namespace', ','.join(namespaces)],
            env={**os.environ, 'HEARTH_ADMIN_CREDENTIAL': CREDENTIAL}, stdout=subprocess.PIPE, stderr=self.said, text=True)
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
        line = self.process.stdout.readline() if ready else ''
        assert line.startswith('listening on '), self.words()
        self.url = line.removeprefix('listening on ').strip()

    def stop(self):
        """Ends it in order."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        words = self.words()
        self.said.close()
        self.folder.cleanup()
        assert code == 0, f'the server ended with {code}: {words}'

    def words(self):
        """All that it has said."""
        self.said.seek(0)
        return self.said.read()
