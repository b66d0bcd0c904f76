// Calls of servers of the web, and of those that read and draw pages.

export const fetch = ({ network }) => ({
  everyday: [
    ["fetch", { url: "http://docs.example/" }],
    ["fetch", { url: "http://docs.example/a?b=c&d=[1]#e" }],
    ["fetch", { url: "http://api.docs.example:8080/v1/x.json", raw: true }],
    ["fetch", { url: `${network.origin}/page`, max_length: 100 }],
    ["fetch", { url: "http://docs.example/~ann/.env" }],
    ["fetch", { url: "http://docs.example/übersicht", start_index: 0 }, "allow", "differs"],
  ],
  rare: [
    ["fetch", { url: "http://other.example/" }, "ask"],
    ["fetch", { url: "file:///etc/passwd" }, "ask"],
  ],
});

export const playwright = ({ repo, network }) => ({
  everyday: [
    ["browser_navigate", { url: `${network.origin}/form` }],
    ["browser_snapshot", {}],
    ["browser_find", { text: "/docs" }],
    ["browser_find", { regex: "Send|send" }],
    ["browser_evaluate", { function: "() => document.title" }],
    ["browser_type", { target: "#notes", text: ".env" }],
    ["browser_type", { element: "Notes", target: "#notes", text: "~/.ssh/config" }],
    ["browser_hover", { target: ".env" }],
    ["browser_click", { element: "Send", target: "#send" }],
    ["browser_select_option", { target: "#size", values: ["big"] }],
    ["browser_fill_form", { fields: [{ target: "#notes", name: "Notes", type: "textbox", value: "./a" }] }],
    ["browser_drop", { element: "Zone", target: "#drop", data: { "text/plain": "hi" } }],
    ["browser_press_key", { key: "/" }],
    ["browser_console_messages", { level: "error" }],
    ["browser_network_requests", { static: false }],
    ["browser_take_screenshot", { type: "png" }],
    ["browser_take_screenshot", { filename: "out/page.png" }],
    ["browser_snapshot", { filename: `${repo}/out/page.md` }],
    ["browser_tabs", { action: "list" }],
    ["browser_resize", { width: 800, height: 600 }],
    ["browser_wait_for", { text: "Send" }],
    ["browser_navigate", { url: `localhost:${network.port}/form` }, "allow", "differs"],
    ["browser_navigate_back", {}],
  ],
  rare: [
    ["browser_tabs", { action: "new", url: `${network.origin}/second` }],
    ["browser_tabs", { action: "close", index: 1 }],
    ["browser_navigate", { url: "about:blank" }],
    ["browser_navigate", { url: "http://other.example/" }, "ask"],
    ["browser_close", {}],
  ],
  controls: [
    ["browser_take_screenshot", { filename: ".git/hooks/post-commit" }],
    ["browser_drop", { target: "#drop", paths: [`${repo}/.env`] }],
    ["browser_navigate", { url: "file:///etc/passwd" }],
  ],
});

export const everything = ({ network }) => ({
  everyday: [
    ["echo", { message: "hello" }],
    ["echo", { message: ".env and ~/.ssh/config" }],
    ["echo", { message: "~/.ssh/config needs a host" }],
    ["get-sum", { a: 2, b: 3 }],
    ["get-structured-content", { location: "Chicago" }],
    ["get-tiny-image", {}],
    ["get-annotated-message", { messageType: "success", includeImage: false }],
    ["gzip-file-as-resource", { name: "x.gz", data: `${network.origin}/page`, outputType: "resource" }],
  ],
  rare: [["echo", { message: "/proc/self/environ is a file of Linux" }]],
});

export const image = ({ repo }) => ({
  everyday: [
    ["load_image", { path: `${repo}/docs/logo.png` }],
    ["load_image", { path: "http://docs.example/logo.png" }],
  ],
  rare: [["load_image", { path: "docs/logo.png" }]],
  controls: [["load_image", { path: `${repo}/.env` }]],
});

export const notion = () => ({
  everyday: [
    ["API-post-search", { query: "/roadmap" }],
    ["API-retrieve-a-page", { page_id: "a1" }],
    ["API-post-search", { query: ".env", page_size: 5 }],
    ["API-create-a-comment", { parent: { page_id: "a1" }, rich_text: [{ text: { content: "~/.ssh/config" } }] }],
    ["API-retrieve-page-markdown", { page_id: "a1" }],
  ],
});

export const slack = () => ({
  everyday: [
    ["slack_list_channels", { limit: 10 }],
    ["slack_post_message", { channel_id: "C", text: "~/.ssh/config needs a new host" }],
    ["slack_reply_to_thread", { channel_id: "C", thread_ts: "1234567890.123456", text: ".env" }],
    ["slack_get_channel_history", { channel_id: "C", limit: 5 }],
    ["slack_add_reaction", { channel_id: "C", timestamp: "1234567890.123456", reaction: "+1" }],
  ],
});

export const chromeDevtools = ({ repo }) => ({
  everyday: [
    ["list_pages", {}],
    ["navigate_page", { pageId: 1, type: "reload" }],
    ["navigate_page", { pageId: 1, type: "url", url: "http://localhost:3000/" }],
    ["take_snapshot", { pageId: 1 }],
    ["take_screenshot", { pageId: 1, filePath: `${repo}/out/a.png` }],
    ["evaluate_script", { pageId: 1, function: "() => 1" }],
    ["list_console_messages", { pageId: 1 }],
    ["fill", { pageId: 1, uid: "1_2", value: "~/.ssh" }],
  ],
  controls: [["take_screenshot", { pageId: 1, filePath: `${repo}/callgate.json` }]],
});
