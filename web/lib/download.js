// A file made here, for the reader to keep.
export function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], {type}));
  const anchor = document.createElement("a");
  Object.assign(anchor, {href: address, download: name});
  anchor.click();
  URL.revokeObjectURL(address);
}
