// Documents are imported as they are. TypeScript widens every word in them to `string`, which the parameters take.
import { createEngine, defineAnnotations, definePolicy } from "callgate";
import annotations from "./documents/annotations.json" with { type: "json" };
import ceiling from "./documents/ceiling.json" with { type: "json" };
import harn from "./documents/harn.json" with { type: "json" };
import lists from "./documents/lists.json" with { type: "json" };
import policy from "./documents/policy.json" with { type: "json" };
import words from "./documents/words.json" with { type: "json" };
import world from "./documents/world.json" with { type: "json" };

createEngine({ policy, annotations, lists, ceiling });
createEngine({ policy: definePolicy(policy), annotations: defineAnnotations(annotations) });
createEngine({ policy, annotations: harn });
createEngine({ policy: { rules: [] }, annotations: words, world });
