import { checkedState } from "./share.js";
import type { State } from "./state.js";

/** The key in the storage of the tab, which no other tab has and which is gone when the tab is closed. */
const KEY = "callgate-state";

/**
 * The state that the page held before it was loaded anew, or left and returned to. Whoever opens it by an address gets
 * the state in the address.
 */
export function keptState(): State | undefined {
  const [navigation] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
  try {
    const text = sessionStorage.getItem(KEY);
    sessionStorage.removeItem(KEY);
    const isReturn = navigation?.type === "reload" || navigation?.type === "back_forward";
    return isReturn && text !== null ? checkedState(JSON.parse(text)) : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the state when the page is left. If it is too long for that, the person is warned. */
export function keepOnLeaving(state: () => State, isChanged: () => boolean): void {
  addEventListener("beforeunload", (event) => {
    if (!isChanged()) {
      return;
    }
    try {
      sessionStorage.setItem(KEY, JSON.stringify(state()));
    } catch {
      event.preventDefault();
    }
  });
}
