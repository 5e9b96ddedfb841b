// Server-sent events from a fetch: EventSource can't send Authorization.
function parse(block) {
  const event = {type: "message", id: null, data: ""};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const text = line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") event.type = text;
    else if (name === "id") event.id = text;
    else if (name === "data") event.data += text;
  }
  return event;
}

/** Calls onEvent for each event until the stream ends. */
export async function readStream(body, onEvent) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks.map(parse)) if (block.data) onEvent(block);
  }
}
