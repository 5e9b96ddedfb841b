// Light, dark, or as the machine has it.
const KEPT = "admitd.theme";

export const theme = () => localStorage.getItem(KEPT) ?? "auto";

export function setTheme(name) {
  localStorage.setItem(KEPT, name);
  applyTheme();
}

export function applyTheme() {
  if (theme() === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme();
}
