"""bundle_maker.py - knowledge bundles made for a test: a folder of concepts, each named by an index."""
import os


def write(path, text):
    """Writes a file, its folders too; text or bytes."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as stream:
        stream.write(text.encode() if isinstance(text, str) else text)


def concept(title="A title", body="Some text.", kind="Metric", more=""):
    return "---\ntype: %s\ntitle: %s\n%s---\n\n%s\n" % (kind, title, more, body)


def bundle(path, concepts, entries=None, head=""):
    """A bundle at `path`. `concepts` are {id: text}; its index names `entries`, else each of them as id.md."""
    for name, text in concepts.items():
        write(os.path.join(path, name + ".md"), text)
    named = [name + ".md" for name in concepts] if entries is None else entries
    write(os.path.join(path, "index.md"), head + "# Concepts\n\n" + "".join("* [x](%s) - x\n" % entry for entry in named))
    return path


def large(path, count, bad, folders=40, words=300):
    """`count` concepts in folders with an index each; the first `bad` of them have no front matter. The same every time."""
    text = ["# Definition", ""]
    names = {"f%02d" % number: [] for number in range(folders)}
    for number in range(count):
        folder = "f%02d" % (number % folders)
        names[folder].append("c%05d.md" % number)
        body = " ".join("w%d" % ((number * 7 + place * place) % 6007) for place in range(words))
        head = "" if number < bad else ("---\ntype: Metric\ntitle: Concept %d\ndescription: About w%d.\ntags: [a, b]\n---\n\n"
                                        % (number, number))
        write(os.path.join(path, folder, "c%05d.md" % number), head + "\n".join(text + [body, ""]))
    for folder, files in names.items():
        write(os.path.join(path, folder, "index.md"), "".join("* [x](%s) - x\n" % name for name in files))
    write(os.path.join(path, "index.md"), "".join("* [%s](%s/index.md) - x\n" % (folder, folder) for folder in names))
    return path
