// The Node host's answers about git: `node node.mjs PACKAGE REQUESTS`, both paths. Prints `null` for an error.
import { readFileSync } from "node:fs";

const [place, requests] = process.argv.slice(2);
const { createNodeHost } = await import(place);

const answers = JSON.parse(readFileSync(requests, "utf8")).map(({ home, directory, names, urls }) => {
  const host = createNodeHost({ homeDir: home, currentDir: home });
  const asked = (ask) => {
    try {
      return ask();
    } catch (thrown) {
      if (thrown.name !== "HostError") {
        throw thrown;
      }
      return null;
    }
  };
  return [
    ...names.flatMap((name) => [
      asked(() => host.gitRemoteUrls(directory, name)),
      asked(() => host.gitPushRefs(directory, name, "main") ?? null),
    ]),
    asked(() => host.gitBranch(directory)),
    asked(() => host.gitCheckIgnore(`${directory}/.env`) ?? null),
    asked(() => host.gitDefaultRemoteUrls(directory)),
    asked(() => host.gitPushRefs(directory, "", "") ?? null),
    ...urls.map((url) => asked(() => host.gitUrl(directory, url))),
  ];
});
console.log(JSON.stringify(answers));
