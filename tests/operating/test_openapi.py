"""docs/openapi.yaml against the server: what it says is asked, some thousand times, and what is answered must be in it."""

import pathlib
import subprocess
import sys
import unittest

import hearth

HERE = pathlib.Path(__file__).resolve().parent
# Of each operation, beside those that the document's own examples and bounds make.
EXAMPLES = 25


class OpenApi(unittest.TestCase):
    def test_what_the_document_says_is_what_the_server_does(self):
        server = hearth.Server('openapi', 'rules')
        try:
            asked = subprocess.run(
                [pathlib.Path(sys.executable).with_name('schemathesis'), '--config-file', HERE / 'schemathesis.toml', 'run',
                 hearth.TREE / 'docs/openapi.yaml', '--url', server.url, '--max-examples', str(EXAMPLES),
                 '--header', f'Authorization: Bearer {hearth.CREDENTIAL}', '--no-color'],
                cwd=server.folder.name, capture_output=True, text=True, timeout=1800)
            self.assertEqual(asked.returncode, 0, f'{asked.stdout}\n{asked.stderr}')
            self.assertIn('Tested: 34\n', asked.stdout, 'an operation was left out')
        finally:
            server.stop()


if __name__ == '__main__':
    unittest.main()
