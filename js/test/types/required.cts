// `require()` of the package, in a project of CommonJS.
import callgate = require("callgate");

const domain: string = callgate.extractDomain("https://a.example");
export = domain;
