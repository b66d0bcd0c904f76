// A `realpath` that misbehaves. `tests/src/doubles/misbehaviour.rs` has the format.

/**
 * The host with a `realpath` that misbehaves as the case says. `reenter` judges a request with the engine that is
 * asking.
 */
export function misbehaving(host, realpath, reenter) {
  let asked = 0;
  const answer = (path) => {
    const honest = () => host.realpath(path);
    switch (realpath.mode) {
      case "throw":
        if (realpath.code !== undefined) {
          throw Object.assign(new Error(realpath.code), { code: realpath.code });
        }
        throw realpath.value === undefined ? new Error() : realpath.value;
      case "return":
        return realpath.value;
      case "undefined":
        return undefined;
      case "promise":
        return Promise.resolve(honest());
      case "append": {
        const real = honest();
        return typeof real === "string" ? real + realpath.value : real;
      }
      case "sequence": {
        const { values } = realpath;
        return values.length === 0 ? honest() : values[Math.min(asked++, values.length - 1)];
      }
      case "reenter":
        reenter(realpath.request);
        return honest();
      default:
        throw new Error(`unknown misbehaviour ${realpath.mode}`);
    }
  };
  return {
    ...host,
    realpath: (path) => (realpath.for === undefined || realpath.for === path ? answer(path) : host.realpath(path)),
  };
}
