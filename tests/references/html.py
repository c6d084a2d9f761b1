"""HTML as a tree: its markup, and the text that a person sees, from the definition of each node."""

from __future__ import annotations

import html
from dataclasses import dataclass

BLOCKS = ("p", "div", "h1", "blockquote", "li", "ul", "center", "section")
INLINE = ("b", "i", "span", "font", "a", "em", "u", "zz", "sub")
HIDING = (
    "style='display:none'",
    'style="color: red; visibility : hidden"',
    "style=font-size:0",
    "hidden",
    "style='color:#fff'",
    'style="opacity:0"',
)


@dataclass(frozen=True)
class Node:
    """A text, a comment, a style sheet or an element.

    Attributes
    ----------
    kind
        `"text"`, `"comment"`, `"style"`, `"inline"`, `"block"`, `"hidden"`, `"break"` or
        `"picture"`.
    name
        The name of an element, the attributes of a hidden one, or the text of others.
    children
        The content of an element.
    """

    kind: str
    name: str
    children: tuple[Node, ...] = ()


def markup(nodes: tuple[Node, ...]) -> str:
    """Return the nodes as HTML."""
    return "".join(map(_markup, nodes))


def _markup(node: Node) -> str:
    inner = markup(node.children)
    return {
        "text": html.escape(node.name),
        "comment": f"<!-- {node.name} -->",
        "style": f"<style title='>'>{node.name}</style>",
        "inline": f"<{node.name} title='<p>'>{inner}</{node.name.upper()}>",
        "block": f"<{node.name.upper()} >{inner}</{node.name}>",
        "hidden": f"<div><section {node.name}>{inner}</section></div>",
        "break": "<br/>",
        "picture": f"<img src=x alt='{html.escape(node.name)}'>",
    }[node.kind]


def visible(nodes: tuple[Node, ...]) -> str:
    """Return the text that a person sees: lines of blocks, with single spaces."""
    lines = _visible(nodes).split("\n")
    return "\n".join(" ".join(line.split()) for line in lines if line.split())


def _visible(nodes: tuple[Node, ...]) -> str:
    found = ""
    for node in nodes:
        match node.kind:
            case "text":
                found += " ".join(f".{node.name}.".split())[1:-1]
            case "inline":
                found += _visible(node.children)
            case "block":
                found += f"\n{_visible(node.children)}\n"
            case "hidden" | "break":
                found += "\n"
            case "picture":
                found += f" {' '.join(node.name.split())} " if node.name else ""
    return found
