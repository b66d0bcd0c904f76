// What a component says of tools and of its world as JSON, with the members and the order that the other hosts give.

/** The contract's names have dashes where JSON has underscores. */
export const spelled = (name) => name.replaceAll("-", "_");

const object = (entries) => Object.fromEntries(entries);

export function described(semantics) {
  return {
    kind: semantics.kind,
    side_effect_level: spelled(semantics.sideEffectLevel),
    arg_schema: {
      path_params: semantics.pathParams,
      arg_aliases: object(semantics.argAliases.map(({ alias, key }) => [alias, key])),
      required: semantics.required,
    },
    capabilities: object(semantics.capabilities.map(({ name, entries }) => [name, entries])),
    emits_artifacts: semantics.emitsArtifacts,
    result_readers: semantics.resultReaders,
    inline_result: semantics.inlineResult,
    isReadOnly: semantics.isReadOnly,
    mutationClass: spelled(semantics.mutationClass),
  };
}

function dataOf({ tag, val }) {
  switch (tag) {
    case "nothing":
      return {};
    case "fault":
      return { reason: val };
    case "place":
      return {
        resolved: val.resolved,
        root_key: val.rootKey,
        subdirectory: val.subdirectory ?? null,
        relative_path: val.relativePath,
        mod_name: val.modName ?? null,
      };
    case "judgement":
      return {
        mode: val.mode,
        root_key: val.rootKey,
        subdirectory: val.subdirectory ?? null,
        failed_conditions: val.failedConditions,
      };
    default:
      throw new Error(`unknown data ${tag}`);
  }
}

export const replied = ({ code, status, message, data }) => ({ code, status, message, data: dataOf(data) });

/** A line of a diagnostic, as the core prints it. */
export const line = ({ code, severity, path, message, help }) =>
  `${severity}[${code}] at ${path}: ${message}${help ? ` (help: ${help})` : ""}`;

/** Steps on one table of references, an answer each. */
export function referenceSteps(engine, steps) {
  const table = engine.references();
  const given = [];
  return steps.map((step) => {
    if (step === "revokeAll") {
      table.revokeAll();
      return null;
    }
    const [[name, operand]] = Object.entries(step);
    switch (name) {
      case "resolve": {
        const context = JSON.stringify({ mode: operand[1] });
        const { reply, reference } = engine.resolve(table, operand[0], true, context);
        given.push(...(reference === undefined ? [] : [reference]));
        return reply.code;
      }
      case "hostPath":
        return given[operand] === undefined ? null : (table.hostPath(given[operand]) ?? null);
      case "revoke":
        return given[operand] !== undefined && table.revoke(given[operand]);
      default:
        throw new SyntaxError(`nothing here does \`${name}\``);
    }
  });
}
