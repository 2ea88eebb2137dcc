// Moments as people say them.

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const shortDay = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const longDay = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const longDayOfYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

export function timeOf(at: number): string {
  return clock.format(at);
}

export function dayOf(at: number): string {
  const day = new Date(at);
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  if (isSameDay(day, today)) {
    return 'Today';
  }
  if (isSameDay(day, yesterday)) {
    return 'Yesterday';
  }
  return (day.getFullYear() === today.getFullYear() ? longDay : longDayOfYear).format(day);
}

/** The time if it was today, else the day. */
export function shortly(at: number): string {
  return isSameDay(new Date(at), new Date()) ? clock.format(at) : shortDay.format(at);
}

export function isSameDay(one: Date, other: Date): boolean {
  return one.toDateString() === other.toDateString();
}
