"""The official Admin SDK for Python (`firebase-admin` from PyPI) against both modes of the server."""

import os
import threading
import unittest

from firebase_admin import db, exceptions

import hearth
from hearth import Events, Place, ends, within

# Numbers that are no floats in Python but are in JavaScript, names that are no ASCII, holes, and what looks like a list.
VALUES = [
    ('', 1, 1), ('', -2.5, -2.5), ('', 2**53 + 1, 2**53 + 1), ('', 1e300, 1e300), ('', True, True), ('', '', ''),
    ('', 'zażółć 😀 "\\\n', 'zażółć 😀 "\\\n'), ('', ['a', 'b'], ['a', 'b']), ('', {'0': 'a', '1': 'b'}, ['a', 'b']),
    ('R031', {'1': 'b', '3': 'd'}, [None, 'b', None, 'd']), ('R031', {'0': 'a', '9': 'z'}, {'0': 'a', '9': 'z'}),
    ('', {'é': {'deep': {'er': 1}}, 'x y+z%': 2}, {'é': {'deep': {'er': 1}}, 'x y+z%': 2}),
    ('', {'a': None, 'b': {'c': None}, 'd': []}, None), ('', {}, None),
]

PEOPLE = {
    'ada': {'age': 36, 'at': {'town': 'x'}}, 'bob': {'age': 7}, 'cy': {'age': 36},
    'dee': {'age': 50, 'at': {'town': 'w'}}, 'eve': {'mute': True}, 'fox': {'age': 'old'},
}

OPEN = {'.read': True, '.write': True}
BOARD = {'board': {'.read': 'auth.uid === "amy"', '.write': 'auth.token.writes === true'}}


class Scenarios:
    """What is the same for all ways to find the server. `find` starts it."""

    find = None

    @classmethod
    def setUpClass(cls):
        cls.server, cls.address_of = (lambda found: (found[0], staticmethod(found[1])))(cls.find())

    @classmethod
    def tearDownClass(cls):
        os.environ.pop('FIREBASE_DATABASE_EMULATOR_HOST', None)
        cls.server.stop()

    def setUp(self):
        self.place = Place(self.address_of)
        self.addCleanup(self.place.leave)

    def test_what_is_set_is_there(self):
        at = self.place.ref('at/é')
        for report, value, expected in VALUES:
            with self.subTest(report=report, value=value):
                at.set(value)
                self.assertEqual(at.get(), expected)

    def test_push_update_and_delete(self):
        root, at = self.place.ref(), self.place.ref('list')
        first = at.push('first')
        self.assertRegex(first.key, '^[-_0-9A-Za-z]{20}$')
        self.assertEqual(at.push().get(), '', 'a push without a value writes an empty text')
        third = at.push({'n': 3})
        self.assertEqual(sorted(at.get()), list(at.get()), 'in the order of the pushes')
        for report, write, expected in [
            ('', lambda: at.delete(), None),
            ('', lambda: at.set({'a': 1, 'b': {'c': 2, 'd': 3}}), {'a': 1, 'b': {'c': 2, 'd': 3}}),
            ('', lambda: at.update({'a': 5, 'b/c': 6, 'e': {'f': 7}}), {'a': 5, 'b': {'c': 6, 'd': 3}, 'e': {'f': 7}}),
            ('', lambda: at.update({'b': None, 'e/f': None}), {'a': 5}),
            ('', lambda: root.update({'list/a': 6, 'other': 1}), {'a': 6}),
            ('', lambda: at.child('a').delete(), None),
            ('', lambda: at.child('none').delete(), None),
        ]:
            write()
            self.assertEqual(at.get(), expected, report)
        self.assertEqual([root.get(), third.get()], [{'other': 1}, None])

    def test_shallow(self):
        at = self.place.ref('at')
        for report, value, expected in [
            ('R079', {'a': {'b': 1}, 'c': False, 'd': 0}, {'a': True, 'c': True, 'd': True}),
            ('R079', ['x', 'y'], {'0': True, '1': True}),
            ('R079', 'leaf', 'leaf'),
            ('R079', {}, None),
        ]:
            at.set(value)
            self.assertEqual(at.get(shallow=True), expected, f'{report} {value}')

    def test_reads_and_writes_that_depend_on_what_is_there(self):
        at = self.place.ref('at')
        self.assertEqual(at.get(etag=True), (None, 'null_etag'))
        self.assertEqual(at.set_if_unchanged('null_etag', {'n': 1})[:2], (True, {'n': 1}))
        value, one = at.get(etag=True)
        self.assertEqual(value, {'n': 1})
        self.assertEqual(at.get_if_changed(one), (False, None, None))
        at.set({'n': 2})
        changed, value, two = at.get_if_changed(one)
        self.assertEqual((changed, value), (True, {'n': 2}))
        self.assertNotEqual(one, two)
        self.assertEqual(at.set_if_unchanged(one, {'n': 9}), (False, {'n': 2}, two))
        self.assertEqual(at.set_if_unchanged('null_etag', {'n': 9}), (False, {'n': 2}, two))
        done, value, three = at.set_if_unchanged(two, {'n': 3})
        self.assertEqual((done, value, at.get()), (True, {'n': 3}, {'n': 3}))
        self.assertEqual(at.set_if_unchanged(two, 'x'), (False, {'n': 3}, at.get(etag=True)[1]), f'after {three}')

    def test_transactions(self):
        at = self.place.ref('n')
        self.assertEqual(at.transaction(lambda n: (n or 0) + 1), 1, 'of nothing')
        self.assertEqual(at.transaction(lambda n: n + 1), 2)

        def give_up(_):
            raise ValueError('enough')

        with self.assertRaisesRegex(ValueError, 'enough'):
            at.transaction(give_up)
        refs = [self.place.ref('n') for _ in range(3)]

        def count(own):
            for _ in range(10):
                own.transaction(lambda n: n + 1)

        threads = [threading.Thread(target=count, args=[own]) for own in refs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(hearth.DEADLINE_S)
        self.assertEqual(at.get(), 32)

        def meddle(n):
            at.set(n + 1)
            return n + 1

        with self.assertRaises(db.TransactionAbortedError):
            at.transaction(meddle)

    def test_server_values(self):
        at = self.place.ref('at')
        at.set({'n': 1, 'made': {'.sv': 'timestamp'}})
        at.update({'n': {'.sv': {'increment': 4}}, 'made2': {'.sv': 'timestamp'}})
        found = at.get()
        self.assertEqual(found['n'], 5)
        self.assertLessEqual(found['made'], found['made2'])

    def test_queries(self):
        self.place.deploy({**OPEN, 'list': {'.indexOn': ['age', 'at/town']}, 'scores': {'.indexOn': '.value'}})
        at, scores = self.place.ref('list'), self.place.ref('scores')
        at.set(PEOPLE)
        scores.set({'a': 3, 'b': 1, 'c': 2, 'd': 'x', 'e': False})
        for report, query, expected in [
            ('', at.order_by_key(), 'ada bob cy dee eve fox'),
            ('', at.order_by_key().start_at('bob').end_at('dee'), 'bob cy dee'),
            ('', at.order_by_key().limit_to_last(2), 'eve fox'),
            ('', at.order_by_key().equal_to('cy'), 'cy'),
            ('', at.order_by_child('age'), 'eve bob ada cy dee fox'),
            ('', at.order_by_child('age').start_at(36), 'ada cy dee fox'),
            ('', at.order_by_child('age').end_at(36), 'eve bob ada cy'),
            ('', at.order_by_child('age').equal_to(36), 'ada cy'),
            ('', at.order_by_child('age').start_at(1).limit_to_first(2), 'bob ada'),
            ('', at.order_by_child('age').equal_to('old'), 'fox'),
            ('', at.order_by_child('at/town').start_at('w'), 'dee ada'),
            ('', at.order_by_child('age').start_at(1000).end_at(2000), ''),
            ('', scores.order_by_value(), 'e b c a d'),
            ('', scores.order_by_value().start_at(2).limit_to_first(1), 'c'),
            ('', scores.order_by_value().limit_to_last(2), 'a d'),
        ]:
            with self.subTest(report=report, expected=expected):
                self.assertEqual(' '.join(query.get()), expected)
        with self.assertRaisesRegex(exceptions.InvalidArgumentError, 'add ".indexOn": "mute", for path "/list"'):
            at.order_by_child('mute').get()

    def test_who_steps_down_is_judged_by_rules(self):
        self.place.deploy(BOARD)
        self.place.ref('board').set({'n': 1})
        for report, options, read, written in [
            ('R015', {}, True, True),
            ('R015', {'databaseAuthVariableOverride': None}, False, False),
            ('R015', {'databaseAuthVariableOverride': {'uid': 'amy'}}, True, False),
            ('R015', {'databaseAuthVariableOverride': {'uid': 'bob'}}, False, False),
            ('R015', {'databaseAuthVariableOverride': {'uid': 'ada', 'token': {'writes': True}}}, False, True),
        ]:
            at = self.place.ref('board', **options)
            for act, is_allowed in [(lambda: at.get(), read), (lambda: at.child('n').set(2), written)]:
                with self.subTest(report=report, **options):
                    if is_allowed:
                        act()
                        continue
                    with self.assertRaisesRegex(exceptions.UnauthenticatedError, 'Permission denied'):
                        act()

    def test_a_listener_is_told_puts_and_patches(self):
        at, writer = self.place.ref('at'), self.place.ref()
        events = Events()
        listener = at.listen(events)
        self.assertEqual(events.next(), ('put', '/', None))
        for report, write, expected in [
            ('', lambda: writer.child('at').set({'a': 1}), ('put', '/', {'a': 1})),
            ('', lambda: writer.child('at/b/c').set('é\n"'), ('put', '/b/c', 'é\n"')),
            ('', lambda: writer.child('at').update({'a': 2, 'd': [1, 2]}), ('patch', '/', {'a': 2, 'd': [1, 2]})),
            ('', lambda: writer.child('at/b').update({'c': None, 'x': 1}), ('patch', '/b', {'c': None, 'x': 1})),
            ('', lambda: writer.child('other').set(1), None),
            ('', lambda: writer.child('at/d').delete(), ('put', '/d', None)),
            ('', lambda: writer.delete(), ('put', '/', None)),
        ]:
            write()
            if expected:
                self.assertEqual(events.next(), expected, report)
        within(listener.close, 'the end of a listener that is closed')
        writer.child('at').set('nobody listens')
        self.assertTrue(events.none_left())


class WithHttp(Scenarios, unittest.TestCase):
    find = staticmethod(hearth.dev)


class WithTheVariable(Scenarios, unittest.TestCase):
    find = staticmethod(hearth.emulator)


class InProduction(Scenarios, unittest.TestCase):
    find = staticmethod(hearth.serve)

    def test_another_credential_gets_nothing(self):
        at = db.reference('at', self.place.app(token='owner'))
        with self.assertRaisesRegex(exceptions.UnauthenticatedError, 'credential'):
            at.get()

    # The client waits three seconds before it comes back, so these are tried in one mode.

    def test_a_listener_ends_with_the_right_to_read(self):
        self.place.deploy(BOARD)
        self.place.ref('board').set(1)
        while not ends.empty():
            ends.get()
        events = Events()
        listener = self.place.ref('board', databaseAuthVariableOverride={'uid': 'amy'}).listen(events)
        self.addCleanup(listener.close)
        self.assertEqual(events.next(), ('put', '/', 1))
        self.place.deploy({'board': {'.read': False}})
        # It is told `cancel`, comes back after a while of its own, and its thread ends with what it is told then.
        self.assertIn('401', ends.get(timeout=hearth.DEADLINE_S))
        self.assertTrue(events.none_left())
        with self.assertRaisesRegex(exceptions.UnauthenticatedError, 'Permission denied'):
            self.place.ref('board', databaseAuthVariableOverride={'uid': 'amy'}).listen(events)

    def test_a_listener_comes_back_to_a_server_that_was_away(self):
        at = self.place.ref('at')
        at.set({'a': 1})
        events = Events()
        listener = at.listen(events)
        self.addCleanup(listener.close)
        self.assertEqual(events.next(), ('put', '/', {'a': 1}))
        self.server.stop()
        self.server.start()
        self.assertEqual(events.next(), ('put', '/', None), 'R073: what is there now, as a whole')
        at.child('b').set(2)
        self.assertEqual(events.next(), ('put', '/b', 2))


if __name__ == '__main__':
    unittest.main()
