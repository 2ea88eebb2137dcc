// What the server refuses. A write shows at once, before the server has seen it; if rules refuse it, the SDK takes it
// back, and somebody has to say why the screen just changed.

export type Report = (sentence: string) => void;

let report: Report = console.error;

export function reportRefusalsTo(reader: Report): void {
  report = reader;
}

/** Resolves to whether the server took the write. Stays open while offline: the SDK sends when it is back. */
export async function taken(what: string, write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (reason) {
    refused(what, reason);
    return false;
  }
}

export function refused(what: string, reason: unknown): void {
  report(`${what}: ${reason instanceof Error ? reason.message : String(reason)}`);
}
