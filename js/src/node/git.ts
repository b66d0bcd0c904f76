import { HostError } from "../host.js";
import { listedByGit } from "./git/command.js";
import { type Entry, NeedsGit } from "./git/entries.js";
import { type ConfigFiles, loadEntries } from "./git/layers.js";
import { Remotes } from "./git/remotes.js";
import { branchOf, discover, type Repository } from "./git/repository.js";

/** Where git looks for the configuration of the whole machine, as its usual builds have it. */
const SYSTEM_CONFIGS =
  process.platform === "darwin"
    ? [
        "/Library/Developer/CommandLineTools/usr/share/git-core/gitconfig",
        "/Applications/Xcode.app/Contents/Developer/usr/share/git-core/gitconfig",
        "/etc/gitconfig",
        "/usr/local/etc/gitconfig",
        "/opt/homebrew/etc/gitconfig",
      ]
    : ["/etc/gitconfig"];

/**
 * What git would connect to, read from its configuration as `git-config(1)` describes it. Names and URLs are binary
 * strings until they are answers, since git's are bytes.
 *
 * `git` is started, as an argument vector, only where reading cannot tell: for conditions of `includeIf` beyond a
 * directory's name, and for a branch that is not kept in files.
 */
export class Git {
  readonly #files: ConfigFiles;

  constructor(homeDir: string, userConfigDir: string) {
    const home = binary(homeDir);
    this.#files = {
      home,
      outside: [...SYSTEM_CONFIGS, `${binary(userConfigDir)}/git/config`, `${home}/.gitconfig`],
    };
  }

  /** Every URL that a remote stands for. */
  remoteUrls(directory: string, remote: string): string[] {
    const repository = discover(binary(directory));
    return texts(this.#remotes(repository, directory).named(binary(remote)));
  }

  /** The URLs of the remotes that a fetch or push without an argument would use. */
  defaultRemoteUrls(directory: string): string[] {
    const repository = discover(binary(directory));
    if (repository === undefined) {
      return [];
    }
    const remotes = this.#remotes(repository, directory);
    return texts(remotes.withoutArgument(branchOf(repository, directory)));
  }

  /**
   * A URL after `insteadOf`. `git clone` does not read the configuration of the repository that it happens to run in,
   * other commands do; both answers are given.
   */
  urls(directory: string, url: string): string[] {
    const repository = discover(binary(directory));
    const within = repository === undefined ? [] : this.#remotes(repository, directory).explicit(binary(url));
    return texts([...within, ...this.#remotes(undefined, "/").explicit(binary(url))]);
  }

  #remotes(repository: Repository | undefined, directory: string): Remotes {
    let entries: readonly Entry[];
    try {
      entries = loadEntries(this.#files, repository);
    } catch (thrown) {
      if (!(thrown instanceof NeedsGit)) {
        throw thrown;
      }
      entries = listedByGit(directory, this.#files.home);
    }
    return new Remotes(entries, repository?.commonDir);
  }
}

/** The text's bytes in UTF-8, each as one character. */
function binary(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** The distinct URLs, in their order. */
function texts(urls: readonly string[]): string[] {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return [...new Set(urls)].map((url) => {
    try {
      return decoder.decode(Buffer.from(url, "latin1"));
    } catch {
      throw new HostError("git's configuration has a URL that is not UTF-8");
    }
  });
}
