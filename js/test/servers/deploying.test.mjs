// What operators deploy: Helm's chart and the manifests that it writes, the dashboard, and agentgateway's configurations.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { TARGET } from "../tools/hosts.mjs";
import { whyNoVenv } from "../tools/venv.mjs";
import { EXAMPLE, startEnvoy, startListening, until, whyNoEnvoy } from "./envoy.mjs";
import { CALLGATE, start } from "./guard.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const EXAMPLES = path("../../../host-shim/serve/examples/");
const VENV = `${TARGET}/kubernetes`;
const MODES = ["service", "sidecar"];

const missing = whyNoVenv(VENV, [path("python/kubernetes.txt")]) ?? whyNoEnvoy();
const skip = missing !== undefined && process.env.CI !== "true" && `manifests are not checked: ${missing}`;

const folder = realpathSync(mkdtempSync(join(tmpdir(), "callgate-deploying-")));
after(() => rmSync(folder, { recursive: true, force: true }));

const text = (name) => readFileSync(join(EXAMPLES, name), "utf8");
const valuesOf = (mode) => text(`kubernetes/${mode}.values.yaml`);

/** What Helm and Kubernetes say of the chart with each of the values. */
function render(...values) {
  const args = [path("python/kubernetes.py"), join(EXAMPLES, "kubernetes/chart")];
  const options = { input: JSON.stringify(values), encoding: "utf8", maxBuffer: 64 * 1024 * 1024 };
  return JSON.parse(execFileSync(`${VENV}/bin/python`, args, options));
}

function parsed(input) {
  const script = "import json, sys, yaml; json.dump(list(yaml.safe_load_all(sys.stdin)), sys.stdout)";
  return JSON.parse(execFileSync(`${VENV}/bin/python`, ["-c", script], { input, encoding: "utf8" }));
}

const podOf = ({ objects }) => objects.find(({ kind }) => kind === "Deployment").spec.template.spec;

test("the chart", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const { lint, answers } = render(...MODES.map(valuesOf));
  assert.deepEqual(lint, []);

  await t.test("is what Kubernetes takes", () => {
    for (const { refused, faults } of answers) {
      assert.equal(refused, undefined);
      assert.deepEqual(faults, []);
    }
    const wrong = render(`${valuesOf("service")}\nresources: { limit: { memory: 1Gi } }\n`).answers[0];
    assert.match(wrong.faults.join(), /'limit' was unexpected/);
  });

  await t.test("writes the manifests beside it", () => {
    for (const [at, mode] of MODES.entries()) {
      const command = `helm template callgate chart --namespace mcp --values ${mode}.values.yaml`;
      const written = `# Written by \`${command}\`: change the values, or the chart.\n${answers[at].text}`;
      if (process.env.GOLDEN === "write") writeFileSync(join(EXAMPLES, `kubernetes/${mode}.yaml`), written);
      assert.equal(text(`kubernetes/${mode}.yaml`), written);
    }
  });

  await t.test("confines what it starts", () => {
    for (const answer of answers) {
      const pod = podOf(answer);
      assert.equal(pod.automountServiceAccountToken, false);
      assert.equal(pod.securityContext.runAsNonRoot, true);
      assert.equal(pod.securityContext.seccompProfile.type, "RuntimeDefault");
      for (const { name, securityContext, ports = [], resources, ...others } of pod.containers) {
        assert.equal(securityContext.allowPrivilegeEscalation, false, name);
        assert.equal(securityContext.readOnlyRootFilesystem, true, name);
        assert.deepEqual(securityContext.capabilities.drop, ["ALL"], name);
        assert.ok(resources.requests.memory && resources.limits.memory, name);
        // A probe knows the names of its own container's ports alone.
        for (const probe of [others.livenessProbe, others.readinessProbe].filter((probe) => probe !== undefined)) {
          const { port } = probe.httpGet ?? probe.tcpSocket;
          assert.ok(typeof port === "number" || ports.some(({ name }) => name === port), `${name}: ${port}`);
        }
      }
      // The server reaches neither the socket nor a key.
      const server = pod.containers.find(({ name }) => name === "server");
      const mounts = server?.volumeMounts.map(({ name }) => name) ?? [];
      assert.deepEqual(
        mounts.filter((name) => !["temporary", "workspace"].includes(name)),
        [],
      );
    }
  });

  await t.test("believes gateways where the values say so", () => {
    const values = valuesOf("service");
    const argsOf = (values) => podOf(render(values).answers[0]).containers[0].args;
    const others = argsOf(values.replace("tlsSecret:", "callersFromEvaluations: true, tlsSecret:"));
    assert.deepEqual(
      others.filter((flag) => !argsOf(values).includes(flag)),
      ["--callers-from-evaluations"],
    );
  });

  await t.test("lets nobody in whom nobody names", () => {
    const closed = valuesOf("service").replace(/networkPolicy:.*/s, "");
    const { objects } = render(closed).answers[0];
    const { spec } = objects.find(({ kind }) => kind === "NetworkPolicy");
    assert.deepEqual(spec.policyTypes, ["Ingress", "Egress"]);
    assert.deepEqual(spec.ingress, []);
  });

  await t.test("refuses values that open it", () => {
    const whole = valuesOf("service");
    const without = (line) => whole.replace(line, "");
    const refused = [
      ["{}", /bundle\/address/],
      [without(/ {2}address: .*\n/), /bundle\/address/],
      [whole.replace("oci://", "http://"), /bundle\/address/],
      [without(/ {2}keys: .*\n/), /bundle\/keys/],
      [without(/ {2}name: acme\n/), /bundle\/name/],
      [whole.replace("tlsSecret: callgate-tls, ", ""), /tlsSecret/],
      [whole.replace(", tokensSecret: callgate-tokens", ""), /tokensSecret/],
      [`${whole}\nallowAnybody: true\n`, /allowAnybody/],
      [`${whole}\n    - {}\n`, /metricsFrom/],
      [valuesOf("sidecar").replace("name: everything\n", 'name: ""\n'), /server\/name/],
    ];
    const { answers } = render(...refused.map(([values]) => values));
    for (const [at, [values, expected]] of refused.entries()) {
      assert.match(answers[at].refused ?? "it is taken", expected, values);
    }
  });
});

/** A signed bundle of the example, and its public key, where the manifests expect the key. */
function signed() {
  const place = mkdtempSync(join(folder, "bundle-"));
  const run = (...args) => execFileSync(CALLGATE, ["bundle", ...args], { cwd: place, encoding: "utf8" });
  cpSync(join(EXAMPLE, "callgate.json"), join(place, "callgate.json"));
  run("keygen", "acme");
  run("build", "--name", "acme", "--revision", "1", "--expires", "1d", "--out", "acme.json");
  run("sign", "acme.json", "--key", "acme.key");
  return { file: join(place, "acme.json"), key: readFileSync(join(place, "acme.pub"), "utf8") };
}

/** Starts the container `callgate` of a manifest: its command, with folders, ports and a bundle of this machine. */
function startContainer(place, pod, expected) {
  const { command, args, env } = pod.containers.find(({ name }) => name === "callgate");
  const { file, key } = signed();
  for (const part of ["keys", "tls", "tokens"]) mkdirSync(join(place, "etc", part), { recursive: true });
  for (const part of ["lib", "log", "run"]) mkdirSync(join(place, part));
  writeFileSync(join(place, "etc/keys/0.pub"), key);
  writeFileSync(join(place, "etc/tokens/tokens"), "secret\n");
  for (const name of ["crt", "key"]) cpSync(path(`tls/service.${name}`), join(place, `etc/tls/tls.${name}`));
  const here = (text) =>
    text
      .replace(/oci:\/\/.*/, file)
      .replace("/etc/callgate", join(place, "etc"))
      .replace("/var/lib/callgate", join(place, "lib"))
      .replace("/var/log/callgate/$(POD)", join(place, "log/pod"))
      .replace("/run/callgate", join(place, "run"))
      .replace("=/workspace", `=${place}`)
      .replace("0.0.0.0:9191", "127.0.0.1:0");
  const given = env.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, here(value)]);
  assert.equal(command[0], "/callgate");
  // The container has no other variable, and no folder of its user's.
  const options = { cwd: "/", env: Object.fromEntries(given) };
  return start(CALLGATE, [...command.slice(1), ...args.map(here)], options, expected);
}

test("the service as its manifest starts it", { skip }, async (t) => {
  assert.equal(missing, undefined);
  const place = mkdtempSync(join(folder, "service-"));
  const pod = podOf(render(valuesOf("service")).answers[0]);
  const service = await startContainer(place, pod, /listening on 127\.0\.0\.1:(\d+)/);
  t.after(async () => {
    // The second one does not wait.
    service.signal("SIGTERM");
    await service.close();
  });
  const ca = readFileSync(path("tls/service.crt"));
  const ask = (page, headers = {}) =>
    new Promise((resolve, reject) => {
      const options = { ca, headers, servername: "localhost" };
      const sent = get(`https://127.0.0.1:${service.found[1]}${page}`, options, async (response) => {
        let text = "";
        for await (const chunk of response.setEncoding("utf8")) text += chunk;
        resolve({ status: response.statusCode, text });
      });
      sent.on("error", reject);
    });
  const { livenessProbe, readinessProbe } = pod.containers[0];
  for (const { httpGet } of [livenessProbe, readinessProbe]) {
    assert.equal(httpGet.scheme, "HTTPS");
    assert.equal((await ask(httpGet.path)).status, 200, httpGet.path);
  }
  assert.equal((await ask("/metrics")).status, 401);

  await t.test("Envoy elsewhere asks it", async () => {
    const server = await startListening("everything");
    const [known, unknown] = await Promise.all(
      ["secret", "other"].map((token) => startEnvoy(place, server.port, elsewhere(service.found[1], token))),
    );
    try {
      const said = execFileSync("node", [join(EXAMPLE, "ask.mjs"), known.url], { encoding: "utf8", timeout: 60_000 });
      assert.match(said, /^ {2}Echo: https:\/\/handbook\.example\/start$/m);
      const { status } = await fetch(unknown.url, { method: "DELETE" });
      assert.ok(status >= 500, String(status));
    } finally {
      for (const { close } of [known, unknown, server]) await close();
    }
  });

  await t.test("the dashboard's metrics are exported", async () => {
    const { text: page } = await ask("/metrics", { authorization: "Bearer secret" });
    const exported = new Set();
    const labels = new Set(["job", "instance"]);
    for (const [, name, of] of page.matchAll(/^(\w+)(?:\{(.*)\})? /gm)) {
      exported.add(name);
      for (const [, label] of (of ?? "").matchAll(/(\w+)="/g)) labels.add(label);
    }
    // Nobody was judged yet.
    for (const [, name] of page.matchAll(/^# TYPE (\w+) counter$/gm)) exported.add(name);
    for (const label of ["server", "decision"]) labels.add(label);
    const { panels, templating } = JSON.parse(text("grafana/dashboard.json"));
    const asked = [...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)), templating.list[1].query];
    const shown = new Set();
    for (const expr of asked) {
      const names = expr.match(/callgate_\w+/g);
      for (const name of names) assert.ok(exported.has(name), `${name} in ${expr}`);
      for (const name of names) shown.add(name);
      const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, names]) => names.split(", "));
      const chosen = [...expr.matchAll(/(\w+)(?:=~|!=)/g)].map(([, name]) => name);
      for (const label of [...grouped, ...chosen]) assert.ok(labels.has(label), `${label} in ${expr}`);
    }
    // And each that is exported is shown.
    assert.deepEqual(
      [...exported].filter((name) => !shown.has(name)),
      [],
    );
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  });
});

/** Envoy's configuration of the example, with what the page says of a service elsewhere. */
function elsewhere(port, token) {
  const blocks = [...text("README.md").matchAll(/```yaml\n(.*?)```/gs)].map(([, block]) => block);
  const [asking, cluster] = blocks.map((block) =>
    block
      .replaceAll("callgate.mcp.svc", "localhost")
      .replace("address: localhost, port_value: 9191", `address: 127.0.0.1, port_value: ${port}`)
      .replace("/etc/envoy/ca.crt", path("tls/service.crt"))
      .replace("TOKEN", token),
  );
  return (example) => {
    const [configuration] = parsed(example);
    const { listeners, clusters } = configuration.static_resources;
    const { http_filters } = listeners[0].filter_chains[0].filters[0].typed_config;
    Object.assign(http_filters[0].typed_config, parsed(asking)[0]);
    clusters[1] = parsed(cluster)[0];
    return JSON.stringify(configuration);
  };
}

test("the sidecar as its manifest starts it", { skip }, async () => {
  assert.equal(missing, undefined);
  const place = mkdtempSync(join(folder, "sidecar-"));
  const answer = render(valuesOf("sidecar")).answers[0];
  const pod = podOf(answer);
  const { data } = answer.objects.find(({ metadata }) => metadata.name === "callgate-envoy");
  const server = await startListening("everything");
  const service = await startContainer(place, pod, /listening on/);
  const here = () =>
    `admin: { address: { socket_address: { address: 127.0.0.1, port_value: 0 } } }\n${data["envoy.yaml"]}`
      .replace("0.0.0.0, port_value: 8640", "127.0.0.1, port_value: 0")
      .replace("0.0.0.0, port_value: 8641", "127.0.0.1, port_value: 0")
      .replace("port_value: 8000", `port_value: ${server.port}`)
      .replace("/run/callgate/callgate.sock", join(place, "run/callgate.sock"));
  const envoy = await startEnvoy(place, server.port, here);
  try {
    const said = spawnSync("node", [join(EXAMPLE, "ask.mjs"), envoy.url], { encoding: "utf8", timeout: 60_000 });
    assert.match(said.stdout, /^tools: echo, get-sum, trigger-long-running-operation$/m, said.stderr);
    assert.match(said.stdout, /^ {2}Echo: https:\/\/handbook\.example\/start$/m);
    assert.match(said.stdout, /^ {2}Callgate did not let this call through \(deny by rule `default-deny`\)/m);
    const { health } = await envoy.addresses();
    const status = async (page) => (await fetch(`http://${health}${page}`)).status;
    const probes = pod.containers.flatMap(({ livenessProbe, readinessProbe }) => [livenessProbe, readinessProbe]);
    const pages = probes.flatMap((probe) => probe?.httpGet?.path ?? []);
    assert.deepEqual(pages, ["/healthz", "/readyz"]);
    for (const page of [...pages, "/metrics"]) assert.equal(await status(page), 200, page);
    for (const page of ["/mcp", "/access/v1/evaluation", "/"]) assert.equal(await status(page), 404, page);
    assert.match(readFileSync(join(place, "log/pod.jsonl"), "utf8"), /"everything"/);
    // Clients reach the server alone, and only through the service.
    assert.equal((await fetch(envoy.url.replace("/mcp", "/readyz"))).status, 404);
    await service.close();
    await until(async () => (await status("/readyz")) === 503);
    assert.ok((await fetch(envoy.url, { method: "DELETE" })).status >= 500);
  } finally {
    await envoy.close();
    await service.close();
    await server.close();
  }
});

test("agentgateway judges whatever it may, and nothing passes where it cannot", { skip }, () => {
  assert.equal(missing, undefined);
  const [{ binds }] = parsed(text("agentgateway/config.yaml"));
  const [{ policies, backends }] = binds[0].listeners[0].routes;
  const objects = parsed(text("agentgateway/kubernetes.yaml"));
  const policy = objects.find(({ spec }) => spec.backend?.mcp !== undefined);
  const backend = objects.find(({ kind }) => kind === "AgentgatewayBackend");
  const [own] = policies.mcpGuardrails.processors;
  const [elsewhere] = policy.spec.backend.mcp.guardrails.processors;
  assert.equal(own.failureMode, "failClosed");
  assert.equal(elsewhere.remote.failureMode, "FailClosed");
  assert.deepEqual(own.methods, { "*": "request", "tools/list": "full" });
  assert.deepEqual(elsewhere.methods, { "*": "Request", "tools/list": "Full" });
  assert.equal(policy.spec.targetRefs[0].name, backend.metadata.name);
  const known = Object.keys(JSON.parse(readFileSync(join(EXAMPLE, "callgate.json"), "utf8")).annotations.servers);
  for (const { targets } of [backends[0].mcp, backend.spec.mcp]) {
    assert.deepEqual(
      targets.map(({ name }) => name),
      known,
    );
  }
});
