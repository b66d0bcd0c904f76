import type { Word } from "./documents.js";

/** What programs do with their arguments, so that commands of shells are judged by what they touch. */
export interface ProgramsFile<Found extends string = never> {
  /** For editors. */
  readonly $schema?: string | undefined;
  readonly programs?: readonly DescribedProgram<Found>[] | undefined;
  /** Names of variables; `*` at the end stands for the rest of a name. */
  readonly variables?: ProgramVariables | undefined;
}

/** Variables that commands may set, and those that decide what runs or what is read. */
export interface ProgramVariables {
  readonly harmless?: readonly string[] | undefined;
  readonly influential?: readonly string[] | undefined;
}

/** A program: which of its words are options, and what its operands and the values of its options mean. */
export interface DescribedProgram<Found extends string = never> {
  readonly names: readonly string[];
  /** Options without a value. Letters of short ones may stand together: `"-lah --all"`. */
  readonly flags?: string | undefined;
  /** Options with a value, and its role: `{"-o --output": "write-path"}`. */
  readonly values?: Readonly<Record<string, string | undefined>> | undefined;
  /** Options whose value has to be in the same word. */
  readonly optional?: Readonly<Record<string, string | undefined>> | undefined;
  /** Options with a name, which is data, and a value: `--arg name value`. */
  readonly pairs?: Readonly<Record<string, string | undefined>> | undefined;
  /** The roles of operands in order: `?` may be absent, `*` any number, `+` at least one. */
  readonly operands?: string | undefined;
  /** What is different with some options. The first that applies counts. */
  readonly cases?: readonly ProgramCase[] | undefined;
  /** The role of the working directory where no path is given. */
  readonly absent?: string | undefined;
  /** The role of the working directory in any case. */
  readonly implied?: string | undefined;
  /** Everything below the paths is meant. */
  readonly tree?: boolean | undefined;
  /** What leaves something out of a tree whose contents are printed or copied, as people write it. */
  readonly without?: string | undefined;
  /** Options whose values are the names that are left out. */
  readonly leavesOut?: string | undefined;
  /** Options with which hidden files are read; without any they always are. */
  readonly hidden?: string | undefined;
  /** Where the last operand is a directory, the others mean what has their name in it. */
  readonly into?: boolean | undefined;
  /** Options after which only operands follow. */
  readonly last?: string | undefined;
  /** How options are written. */
  readonly style?:
    | Word<"gnu" | "posix" | "words" | "plain" | "bundle" | "bsd" | "letters" | "apart", Found>
    | undefined;
  /** `-5` is an option. */
  readonly number?: boolean | undefined;
  /** No option opens or runs anything. */
  readonly isHarmless?: boolean | undefined;
  /** It runs what its arguments or files say. */
  readonly runs?: boolean | undefined;
  /** Without operands it runs what it reads. */
  readonly input?: Word<"script" | "code", Found> | undefined;
  /** Its commands. Names with a space between them share an entry. */
  readonly commands?: Readonly<Record<string, Omit<DescribedProgram<Found>, "names"> | undefined>> | undefined;
}

/** What is different where one of the options in `with`, and one of those in `and`, is given; `alone`, where no operand is. */
export interface ProgramCase {
  readonly with: string;
  readonly and?: string | undefined;
  readonly alone?: boolean | undefined;
  readonly operands?: string | undefined;
  readonly values?: Readonly<Record<string, string | undefined>> | undefined;
  readonly absent?: string | undefined;
  readonly implied?: string | undefined;
  readonly tree?: boolean | undefined;
  readonly runs?: boolean | undefined;
}
