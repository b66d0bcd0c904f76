import { CallgateError } from "../errors.js";
import { reading } from "../members.js";
import { checkedOptions, type McpEndpoint, type McpGateOptions } from "./options.js";
import { pinsOf } from "./pins.js";
import { Relay, type Step } from "./relay.js";

type Receive = (message: unknown, extra?: unknown) => void;
type Send = (message: unknown, options?: unknown) => Promise<void>;

/** As much of a transport as the gate has to know; every other member passes as it is. */
interface Transport {
  send: Send;
  onmessage?: Receive | undefined;
  onerror?: ((error: Error) => void) | undefined;
}

/** The two ends of a connection: the one that connects, and the one that it is connected to. */
interface Endpoint {
  connect: (transport: Transport, ...rest: unknown[]) => Promise<unknown>;
  readonly transport?: Transport | undefined;
  readonly server?: unknown;
}

/** Which end of the connection is gated. */
type Side = "client" | "server";

/**
 * Gates a client of MCP: each call of a tool is judged before it is sent, and what is sent is what was judged. A call that is
 * not allowed is answered with a result that is an error, with the rule and the reason. Tools that no call could use are not
 * listed. Returns the client.
 *
 * It holds for the transports that the client connects to from now on, and for the one that it is connected to. A request that
 * waits for its answer at that moment gets none: answers to requests that the gate has not seen go nowhere.
 *
 * @throws `CallgateError` `invalid-document` if the lock file is not one, `invalid-argument` for an option that is not known.
 */
export function gateClient<Client extends McpEndpoint>(client: Client, options: McpGateOptions): Client {
  return gated(client, "client", options);
}

/**
 * Gates a server of MCP in the same way: each call is judged before its handler is called.
 *
 * @throws `CallgateError` `invalid-document` if the lock file is not one, `invalid-argument` for an option that is not known.
 */
export function gateServer<Server extends McpEndpoint>(server: Server, options: McpGateOptions): Server {
  return gated(server, "server", options);
}

function gated<End extends McpEndpoint>(end: End, side: Side, given: McpGateOptions): End {
  // What is wrong is refused now, not at the first connection.
  const options = checkedOptions(given);
  pinsOf(options.lock, options.serverName);
  const outer = end as unknown as Partial<Endpoint> | null | undefined;
  // A server may stand in another one, which connects.
  const inner = reading(side, () => (isEndpoint(outer?.server) ? outer.server : outer));
  if (!reading(side, () => isEndpoint(inner)) || !isEndpoint(inner)) {
    throw new CallgateError("invalid-argument", `the ${side} has no function \`connect\``);
  }
  const connect = inner.connect.bind(inner);
  inner.connect = (transport, ...rest) => connect(wrapped(transport, side, options), ...rest);
  const { transport } = inner;
  if (transport !== undefined) {
    const { send, receive } = passages(transport, transport.send.bind(transport), side, options);
    transport.send = send;
    const handler = transport.onmessage?.bind(transport);
    transport.onmessage = receive(() => handler);
  }
  return end;
}

function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === "object" && value !== null && "connect" in value && typeof value.connect === "function";
}

/** The transport, with everything that it has, whose messages are gated. */
function wrapped(transport: Transport, side: Side, options: McpGateOptions): Transport {
  const { send, receive } = passages(transport, transport.send.bind(transport), side, options);
  let handler = transport.onmessage;
  const listens = receive(() => handler);
  transport.onmessage = listens;
  return new Proxy(transport, {
    get(target, name) {
      if (name === "send") {
        return send;
      }
      if (name === "onmessage") {
        return handler;
      }
      // Members may be private to the transport, which must be `this` therefore.
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    set(target, name, value) {
      if (name === "onmessage") {
        handler = value as Receive | undefined;
        target.onmessage = listens;
        return true;
      }
      return Reflect.set(target, name, value, target);
    },
  });
}

/** The two ways through a transport. */
function passages(transport: Transport, send: Send, side: Side, options: McpGateOptions) {
  const relay = new Relay(options, async (message) => {
    if (side === "client") {
      await send(message);
    } else {
      handlerOf()?.(message);
    }
  });
  const take = (message: unknown): Step | Promise<Step> =>
    side === "client" ? relay.clientSent(message) : relay.serverSent(message);
  const bring = (message: unknown): Step | Promise<Step> =>
    side === "client" ? relay.serverSent(message) : relay.clientSent(message);
  let handlerOf: () => Receive | undefined = () => undefined;

  async function gatedSend(message: unknown, sendOptions?: unknown): Promise<void> {
    const step = await take(message);
    if (step === undefined) {
      return;
    }
    if (step.to === side) {
      // The one who sent it waits for an answer, which must not come before it knows that it has sent.
      queueMicrotask(() => handlerOf()?.(step.message));
      return;
    }
    await send(step.message, sendOptions);
  }

  const receive = (handler: () => Receive | undefined): Receive => {
    handlerOf = handler;
    const pass = (step: Step, extra: unknown): void => {
      if (step === undefined) {
        return;
      }
      if (step.to === side) {
        handler()?.(step.message, extra);
        return;
      }
      const { id } = step.message as { readonly id?: unknown };
      send(step.message, { relatedRequestId: id }).catch((error: Error) => transport.onerror?.(error));
    };
    return (message, extra) => {
      const step = bring(message);
      if (step instanceof Promise) {
        step.then((found) => pass(found, extra)).catch((error: Error) => transport.onerror?.(error));
      } else {
        pass(step, extra);
      }
    };
  };
  return { send: gatedSend, receive };
}
