// Markup as tagged templates: every value in it becomes a text node or a property, never markup.
import {h} from "preact";
import htm from "htm";

export const html = htm.bind(h);
