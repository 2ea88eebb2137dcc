"""`GET /metrics`, read by the parser of Prometheus' own client library."""

import json
import unittest
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

import hearth


class Metrics(unittest.TestCase):
    def test_a_collector_understands_what_is_counted(self):
        server = hearth.Server('metrics')
        try:
            for path, body in [('a', 1), ('a', {'height': 2}), ('b"\\', [1])]:
                self.ask(server, f'/{urllib.request.quote(path)}.json?ns=metrics', body)
            text = self.ask(server, '/metrics')
            families = {family.name: family for family in text_string_to_metric_families(text)}
            # What it could not read is not there.
            told = [line.split(' ')[2] for line in text.splitlines() if line.startswith('# TYPE ')]
            self.assertEqual({name.removesuffix('_total') for name in told}, set(families))
            for name, family in families.items():
                with self.subTest(name=name):
                    self.assertRegex(name, '^hearth_[a-z_]+$')
                    self.assertTrue(family.documentation.endswith('.'))
                    self.assertIn(family.type, ('counter', 'gauge', 'histogram'))
                    if family.type == 'histogram':
                        self.check_histogram(family)
            commits = families['hearth_commits'].samples
            self.assertEqual([(sample.labels, sample.value) for sample in commits], [({'namespace': 'metrics'}, 3.0)])
        finally:
            server.stop()

    def check_histogram(self, family):
        """Its buckets grow, and the last one has all."""
        series = {}
        for sample in family.samples:
            labels = frozenset((name, value) for name, value in sample.labels.items() if name != 'le')
            series.setdefault(labels, []).append(sample)
        for samples in series.values():
            buckets = [(float(sample.labels['le']), sample.value) for sample in samples if sample.name.endswith('_bucket')]
            self.assertEqual(buckets, sorted(buckets))
            self.assertEqual([value for _, value in buckets], sorted(value for _, value in buckets))
            count = [sample.value for sample in samples if sample.name.endswith('_count')]
            self.assertEqual((buckets[-1][0], [buckets[-1][1]]), (float('inf'), count))

    @staticmethod
    def ask(server, target, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            server.url + target, data, {'Authorization': f'Bearer {hearth.CREDENTIAL}'}, method='GET' if data is None else 'PUT')
        with urllib.request.urlopen(request, timeout=hearth.DEADLINE_S) as answer:
            return answer.read().decode()


if __name__ == '__main__':
    unittest.main()
