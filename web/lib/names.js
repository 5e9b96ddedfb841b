// Names of packages seen in any list: what a person reads in place of an id.
const names = new Map();

export function learn(items) {
  for (const item of items) {
    const id = item.packageId ?? item.id;
    if (id && item.label) names.set(id, item.label);
  }
}

export const nameOf = (id) => (typeof id === "string" ? names.get(id) ?? id : id.label ?? names.get(id.id ?? id.packageId) ?? id.id);
