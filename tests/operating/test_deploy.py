"""deploy/: the unit for systemd, the static binary, and the Dockerfile for that."""

import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import hearth

DEPLOY = hearth.TREE / 'deploy'
# What systemd calls ok ends at 2.0; this one is 1.2, and mostly for the network that a server needs.
EXPOSURE_TENTHS_MAX = 15
NAME = 'hearth.example'
# Says where deploy/static has put what it built. Only root may give it another root.
STATIC = 'HEARTH_STATIC'


def run(*command, **options):
    """What a program says, which must go well."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, **options)
    assert done.returncode == 0, f'{command}: {done.returncode}\n{done.stdout}\n{done.stderr}'
    return done.stdout + done.stderr


@unittest.skipUnless(shutil.which('systemd-analyze'), 'systemd-analyze is not here')
class Unit(unittest.TestCase):
    def test_systemd_understands_it(self):
        text = (DEPLOY / 'hearth.service').read_text()
        installed = '/usr/local/bin/hearth'
        self.assertIn(f'ExecStart={installed} serve ', text)
        with tempfile.TemporaryDirectory() as folder:
            unit = pathlib.Path(folder, 'hearth.service')
            unit.write_text(text.replace(installed, hearth.HEARTH))
            self.assertEqual(run('systemd-analyze', 'verify', '--recursive-errors=no', '--man=no', unit), '')

    def test_it_is_let_do_little(self):
        said = run('systemd-analyze', 'security', '--offline=yes', f'--threshold={EXPOSURE_TENTHS_MAX}',
                   DEPLOY / 'hearth.service')
        self.assertIn('Overall exposure level', said)

    @unittest.skipUnless(shutil.which('strace'), 'strace is not here')
    def test_the_server_asks_the_system_for_nothing_that_the_unit_forbids(self):
        filters = re.findall(r'^SystemCallFilter=(~?)(.*)$', (DEPLOY / 'hearth.service').read_text(), re.MULTILINE)
        allowed = set()
        for is_forbidden, groups in filters:
            calls = set().union(*(calls_of(group) for group in groups.split()))
            allowed = allowed - calls if is_forbidden else allowed | calls
        self.assertIn('openat', allowed)
        self.assertNotIn('reboot', allowed)
        with tempfile.TemporaryDirectory() as folder:
            traced = pathlib.Path(folder, 'calls')
            server = Running(['strace', '--follow-forks', '--output', traced, hearth.HEARTH, *data(folder)])
            try:
                for number in range(20):
                    server.ask(f'/a/{number}.json?ns=app', number)
            finally:
                server.stop()
            calls = set(re.findall(r'^\d+ +([a-z0-9_]+)\(', traced.read_text(), re.MULTILINE))
        self.assertTrue({'openat', 'fdatasync', 'accept4'} & calls, calls)
        # What systemd itself calls on the way to the server is before its filter.
        self.assertEqual(calls - allowed - {'execve'}, set())


def calls_of(group):
    """The calls of a group of systemd's, and of those in it."""
    if not group.startswith('@'):
        return {group}
    lines = [line.strip() for line in run('systemd-analyze', 'syscall-filter', '--no-pager', group).splitlines()]
    names = [line for line in lines[1:] if line and not line.startswith('#')]
    return set().union(*(calls_of(name) for name in names))


def data(folder):
    """A server for production that keeps its data there."""
    return ['serve', '--port', '0', '--namespace', 'app', '--data', f'{folder}/data']


class Running:
    """A server that was started by a command of ours, whose last part is its process or passes signals on."""

    def __init__(self, command, context=None, **options):
        self.context = context
        self.said = tempfile.TemporaryFile('w+')
        env = {'HEARTH_ADMIN_CREDENTIAL': hearth.CREDENTIAL, 'PATH': os.environ['PATH']}
        self.process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=self.said, text=True, start_new_session=True, **options)
        line = self.process.stdout.readline()
        assert line.startswith('listening on '), f'{line}{self.words()}'
        self.url = line.removeprefix('listening on ').strip()

    def words(self):
        self.said.seek(0)
        return self.said.read()

    def stop(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        code = self.process.wait(hearth.DEADLINE_S)
        self.process.stdout.close()
        words = self.words()
        self.said.close()
        assert code in (0, -signal.SIGTERM), f'{code}: {words}'

    def ask(self, target, body=None):
        request = urllib.request.Request(
            self.url + target, None if body is None else json.dumps(body).encode(),
            {'Authorization': f'Bearer {hearth.CREDENTIAL}'}, method='GET' if body is None else 'PUT')
        with urllib.request.urlopen(request, timeout=hearth.DEADLINE_S, context=self.context) as answer:
            return json.load(answer)


@unittest.skipUnless(STATIC in os.environ, f'{STATIC} does not say where the static binary is')
class Static(unittest.TestCase):
    def test_it_serves_where_nothing_else_is(self):
        built = os.environ[STATIC]
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            # A link where both are on one disk: it is a hundred megabytes.
            try:
                os.link(built, root / 'hearth')
            except OSError:
                shutil.copy(built, root / 'hearth')
            # Files with random bytes in them, since containers may not make the devices, which wherever it runs are there.
            (root / 'dev').mkdir()
            for name in ('random', 'urandom'):
                (root / 'dev' / name).write_bytes(os.urandom(1024 * 1024))
            certificate(root)
            (root / 'tree.json').write_text(json.dumps({'a': {'b': [1, 'two', None, True]}}))
            # Who believes whom is asked of the other end.
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            server = self.serve(root, context)
            server.ask('/kept.json?ns=app', {'x': 1})
            server.stop()
            self.assertEqual(
                {path.name for path in root.iterdir()}, {'hearth', 'dev', 'cert.pem', 'key.pem', 'tree.json', 'data'})
            server = self.serve(root, context)
            try:
                self.assertEqual(server.ask('/kept.json?ns=app'), {'x': 1})
                port = server.url.rpartition(':')[2]
                done = self.bring(root, f'https://127.0.0.1:{port}/one', 'HEARTH_NONE=1')
                self.assertNotEqual(done.returncode, 0, 'it trusts whom nobody has named')
                self.assertRegex(done.stderr, r'^hearth: `/tree.json` is not imported: .*[Cc]ertificate')
                trusted = 'SSL_CERT_FILE=/cert.pem'
                done = self.bring(root, f'https://127.0.0.1:{port}/one', trusted)
                self.assertEqual(done.returncode, 0, done.stderr)
                # Names are looked up by what is in the binary, too.
                (root / 'etc').mkdir()
                (root / 'etc/hosts').write_text(f'127.0.0.1 {NAME}\n')
                done = self.bring(root, f'https://{NAME}:{port}/two', trusted)
                self.assertEqual(done.returncode, 0, done.stderr)
                expected = {'a': {'b': [1, 'two', None, True]}}
                self.assertEqual([server.ask(f'/{at}.json?ns=app') for at in ('one', 'two')], [expected, expected])
            finally:
                server.stop()

    @staticmethod
    def serve(root, context):
        return Running(
            ['chroot', str(root), '/hearth', *data(''), '--tls-cert', '/cert.pem', '--tls-key', '/key.pem'], context)

    @staticmethod
    def bring(root, url, setting):
        name, _, value = setting.partition('=')
        return subprocess.run(
            [shutil.which('chroot'), str(root), '/hearth', 'import', '--namespace', 'app', url, '/tree.json'],
            env={'HEARTH_ADMIN_CREDENTIAL': hearth.CREDENTIAL, name: value}, capture_output=True, text=True,
            timeout=hearth.DEADLINE_S)


def certificate(folder):
    run('openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
        '-subj', '/CN=Hearth tests', '-addext', f'subjectAltName=IP:127.0.0.1,DNS:{NAME}',
        '-addext', 'basicConstraints=critical,CA:FALSE', '-keyout', folder / 'key.pem', '-out', folder / 'cert.pem')


class Image(unittest.TestCase):
    def test_the_dockerfile_is_sound(self):
        self.assertEqual(run(pathlib.Path(sys.executable).with_name('hadolint'), DEPLOY / 'Dockerfile'), '')

    def test_it_leaves_out_what_no_build_needs_and_nothing_else(self):
        text = (DEPLOY / 'Dockerfile').read_text()
        self.assertIn('\nFROM scratch\n', text)
        wanted = re.search(r'^rust-version = "(.*)"$', (hearth.TREE / 'Cargo.toml').read_text(), re.MULTILINE)[1]
        self.assertIn(f'\nFROM rust:{wanted}-bookworm AS build\n', text)
        left_out = [line.strip('*/') for line in (DEPLOY / 'Dockerfile.dockerignore').read_text().splitlines()]
        self.assertIn('target', left_out)
        for member in ('Cargo.toml', 'Cargo.lock', 'deploy', 'server', 'tests', 'bench'):
            self.assertNotIn(member, left_out)


if __name__ == '__main__':
    unittest.main()
