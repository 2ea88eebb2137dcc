// What a server says of its checkpoints, and what it was doing when it was ended. For tests that end it there.

/** The shortest log that there can be before a checkpoint, so that there are many of them. */
export const OFTEN = {
  options: ['--checkpoint-log', '1'],
  env: { HEARTH_LOG: 'warn,hearth=debug' },
};

/** Parts of a checkpoint in which a server may be ended, and what it says when each begins. */
export const PARTS = {
  'while its entries are written': 'a checkpoint begins',
  'before its manifest counts': 'the entries of a checkpoint are durable',
  'while the log is trimmed': 'the log is to be trimmed',
};

const BEGINNINGS = Object.entries(PARTS);
const ENDS = ['a checkpoint counts', 'the log is trimmed'];

/** So many lives, of which every second is ended where a part begins, meet each part. */
const MANY = 50;

/** Counts checkpoints, trims and ends over the lives of servers. */
export class Tally {
  checkpoints = 0;
  /** Segments of the log that were removed. */
  segments = 0;
  /** How many lives ended in each part. */
  ended = new Map(BEGINNINGS.map(([part]) => [part, 0]));

  /** All that a server has said in its life. Returns the part in which it was ended, if it was in one. */
  add(said) {
    this.checkpoints += said.split('a checkpoint is written').length - 1;
    for (const [, segments] of said.matchAll(/the log is trimmed segments=(\d+)/g)) this.segments += Number(segments);
    const last = (text) => said.lastIndexOf(text);
    const [part, line] = BEGINNINGS.reduce((a, b) => (last(a[1]) < last(b[1]) ? b : a));
    if (last(line) < 0 || ENDS.some((end) => last(line) < last(end))) return undefined;
    this.ended.set(part, this.ended.get(part) + 1);
    return part;
  }

  /** The parts in which no life has ended yet. */
  get missing() {
    return [...this.ended].filter(([, times]) => times === 0).map(([part]) => part);
  }

  /** Whether enough lives ended during a checkpoint: with many, some in each part; with few, in any. A part may take less
   * time than it takes to end a server. */
  isEnough(lives) {
    return lives < MANY ? this.missing.length < BEGINNINGS.length : this.missing.length === 0;
  }

  toString() {
    const ended = [...this.ended].map(([part, times]) => `${times} ${part}`).join(', ');
    return `${this.checkpoints} checkpoints, ${this.segments} segments of the log removed; ended during a checkpoint: ${ended}`;
  }
}
