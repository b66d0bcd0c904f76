const THEMES = ["system", "light", "dark"] as const;
const KEY = "callgate-theme";

/** The button that changes between the system's theme, a light and a dark one. */
export function startTheme(button: HTMLElement): void {
  const known = kept();
  let at = Math.max(
    0,
    THEMES.findIndex((one) => one === known),
  );
  const show = (): void => {
    const theme = THEMES[at] ?? "system";
    document.documentElement.dataset.theme = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener("click", () => {
    at = (at + 1) % THEMES.length;
    try {
      localStorage.setItem(KEY, THEMES[at] ?? "system");
    } catch {
      // A page without storage forgets.
    }
    show();
  });
  show();
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}
