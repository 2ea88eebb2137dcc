// Making and finding elements. Text from others only ever becomes a text node: nobody's message is markup here.

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** An element of index.html. */
export function part<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) {
    throw new Error(`index.html has no ${kind.name} with the id ${id}`);
  }
  return found;
}

/** Makes `parent` hold exactly `wanted`, touching only what differs: focus, selection and scrolling survive. */
export function arrange(parent: HTMLElement, wanted: readonly HTMLElement[]): void {
  const keep = new Set<Element>(wanted);
  [...parent.children].filter((child) => !keep.has(child)).forEach((child) => child.remove());
  let next = parent.firstElementChild;
  for (const child of wanted) {
    if (child === next) {
      next = next.nextElementSibling;
    } else {
      parent.insertBefore(child, next);
    }
  }
}
