"""The real server, and databases in it, for tests with the official Admin SDK for Python.

Why nothing here sleeps: whoever waits says for what, and the deadline fails with those words.
"""

import itertools
import os
import pathlib
import queue
import signal
import socket
import subprocess
import tempfile
import threading

import firebase_admin
import google.auth.credentials
from firebase_admin import credentials, db

DEADLINE_S = 20
TREE = pathlib.Path(__file__).resolve().parents[2]
HEARTH = os.environ.get('HEARTH_BIN', str(TREE / 'target/debug/hearth'))
OWN_CREDENTIAL = 'a-credential-that-only-these-tests-know'
NAMESPACES = [f'place-{at}' for at in range(1, 61)]

lookup = socket.getaddrinfo


def lookup_with_localhost(host, *rest, **others):
    """Names that end with `.localhost` are this machine (RFC 6761), which not every resolver knows."""
    return lookup('127.0.0.1' if str(host).endswith('.localhost') else host, *rest, **others)


socket.getaddrinfo = lookup_with_localhost


class ServerCredential(google.auth.credentials.Credentials):
    """The admin credential of a server, as Google's library wants it: what there is to fetch is known from the start."""

    def __init__(self, token):
        super().__init__()
        self.known = token

    def refresh(self, request):
        self.token = self.known


class Admin(credentials.Base):
    """What an app is told so that it is the admin of a server for production."""

    def __init__(self, token):
        self.credential = ServerCredential(token)

    def get_credential(self):
        return self.credential


class Server:
    """A server of one mode, with the addresses of its databases."""

    def __init__(self, mode, *options):
        self.arguments = [HEARTH, mode, '--memory', '--keep-alive', '1', *options]
        self.port = '0'
        self.said = tempfile.TemporaryFile('w+')
        self.start()

    def start(self):
        """Starts it, after an end where it was, and returns when it listens."""
        env = {**os.environ, 'HEARTH_ADMIN_CREDENTIAL': OWN_CREDENTIAL}
        self.process = subprocess.Popen(
            [*self.arguments, '--port', self.port], env=env, stdout=subprocess.PIPE, stderr=self.said, text=True)
        line = within(self.process.stdout.readline, 'the address of the server')
        assert line.startswith('listening on '), self.words()
        self.port = line.strip().rpartition(':')[2]

    def stop(self):
        """Ends it in order."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(DEADLINE_S)
        self.process.stdout.close()
        assert code == 0, f'the server ended with {code}: {self.words()}'

    def words(self):
        """All that it has said."""
        self.said.seek(0)
        return self.said.read()


def dev():
    """A server for development, and the address of one of its databases. Told by a URL with `http`, the client is `owner`."""
    server = Server('dev')
    return server, lambda name: f'http://127.0.0.1:{server.port}/?ns={name}'


def emulator():
    """The same, told by the variable, so that the URL is one of Firebase's."""
    server = Server('dev')
    os.environ['FIREBASE_DATABASE_EMULATOR_HOST'] = f'127.0.0.1:{server.port}'
    return server, lambda name: f'https://{name}.firebaseio.com'


def serve():
    """A server for production. This client asks it by https, and the name of the host begins with that of the database."""
    cert, key = os.environ['TEST_CERT'], os.environ['TEST_KEY']
    server = Server('serve', '--tls-cert', cert, '--tls-key', key, '--namespace', ','.join(NAMESPACES))
    return server, lambda name: f'https://{name}.hearth.localhost:{server.port}'


class Place:
    """A database of its own, and apps in it."""

    numbers = itertools.count(1)

    def __init__(self, address_of):
        self.name = f'place-{next(Place.numbers)}'
        self.url = address_of(self.name)
        self.apps = []

    def app(self, token=OWN_CREDENTIAL, **options):
        """Another app, of the admin unless `databaseAuthVariableOverride` says who else it is."""
        name = f'{self.name}-{len(self.apps)}'
        app = firebase_admin.initialize_app(Admin(token), {'databaseURL': self.url, **options}, name)
        self.apps.append(app)
        return app

    def ref(self, path='/', **options):
        return db.reference(path, self.app(**options))

    def deploy(self, rules):
        """There is no method for it in this client, which has its tests do it like this."""
        self.ref()._client.request('put', '/.settings/rules.json', json={'rules': rules})

    def leave(self):
        for app in self.apps:
            firebase_admin.delete_app(app)


class Events:
    """What a listener is told, in order."""

    def __init__(self):
        self.told = queue.Queue()

    def __call__(self, event):
        self.told.put((event.event_type, event.path, event.data))

    def next(self):
        return self.told.get(timeout=DEADLINE_S)

    def none_left(self):
        return self.told.empty()


# How threads of listeners have ended. One that is closed ends with an error of its own library, which nobody need see.
ends = queue.Queue()
threading.excepthook = lambda end: ends.put(str(end.exc_value))


def within(act, what):
    """What `act` returns, or a failure that names what did not come."""
    found = queue.Queue()
    threading.Thread(target=lambda: found.put(act()), daemon=True).start()
    try:
        return found.get(timeout=DEADLINE_S)
    except queue.Empty:
        raise AssertionError(f'not within {DEADLINE_S} s: {what}') from None
