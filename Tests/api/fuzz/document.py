"""The OpenAPI document: its operations, with their parameters, bodies and statuses, and values that its schemas permit."""

import copy
import re

METHODS = ("get", "put", "post", "patch", "delete", "options")

# Statuses of HTTP itself (RFC 9110, RFC 6585), which any request may get for its form, whatever its operation is.
OF_HTTP = {400, 405, 408, 413, 414, 417, 421, 431, 501}


class Operation:
    """One operation of the document."""

    def __init__(self, document, method, path, item):
        self.document, self.method, self.path, self.id = document, method.upper(), path, item["operationId"]
        self.parameters = [document.resolved(parameter) for parameter in item.get("parameters", [])]
        body = document.resolved(item.get("requestBody", {}))
        self.bodies = {type: content.get("schema", {}) for type, content in body.get("content", {}).items()}
        self.security = item.get("security", document.content.get("security", []))
        self.statuses = {int(status) for status in item["responses"]}
        pattern = re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path))
        self.pattern = re.compile(pattern + r"\Z")

    def parameters_in(self, place):
        return [parameter for parameter in self.parameters if parameter["in"] == place]

    def lists(self, status):
        return status in self.statuses or status in OF_HTTP


class Document:
    """The OpenAPI document of a service."""

    def __init__(self, content):
        self.content = content
        self.operations = {}
        for path, item in content["paths"].items():
            for method in METHODS:
                if method in item:
                    operation = Operation(self, method, path, item[method])
                    operation.parameters = [self.resolved(shared) for shared in item.get("parameters", [])] + operation.parameters
                    self.operations[operation.id] = operation

    def resolved(self, value):
        """Returns what a reference refers to, or the value itself."""
        while "$ref" in value:
            target = self.content
            for name in value["$ref"].split("/")[1:]:
                target = target[name]
            value = target
        return value

    def sample(self, schema, chance, ids, depth=0):
        """A value that a schema permits; `ids` returns an id of something that exists, by the name of the property."""
        schema = self.resolved(schema)
        if "examples" in schema and chance.random() < 0.25:
            return copy.deepcopy(chance.choice(schema["examples"]))
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return chance.choice(schema["enum"])
        for several in ("anyOf", "oneOf"):
            if several in schema and "properties" not in schema:
                return self.sample(chance.choice(schema[several]), chance, ids, depth)
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        kind = chance.choice(kinds) if isinstance(kinds, list) else kinds
        if kind == "object":
            return self.object(schema, chance, ids, depth)
        if kind == "array":
            return self.array(schema, chance, ids, depth)
        if kind in ("integer", "number"):
            least, most = schema.get("minimum", 0), schema.get("maximum", 1000)
            return chance.choice([least, most, chance.randint(int(least), int(most))])
        return {"string": lambda: text(schema, chance), "boolean": lambda: chance.random() < 0.5, "null": lambda: None}[kind]()

    def object(self, schema, chance, ids, depth):
        result = {}
        for name, property in schema.get("properties", {}).items():
            if name in schema.get("required", ()) or chance.random() < 0.5 / (depth + 1):
                known = ids(name)
                result[name] = self.sample(property, chance, ids, depth + 1) if known is None else known
        return result

    def array(self, schema, chance, ids, depth):
        if "prefixItems" in schema:
            return [self.sample(item, chance, ids, depth + 1) for item in schema["prefixItems"]]
        least, most = schema.get("minItems", 0), min(schema.get("maxItems", 3), 3)
        return [self.sample(schema.get("items", {}), chance, ids, depth + 1) for _ in range(chance.randint(least, max(least, most)))]


def text(schema, chance):
    """A text of the format and the length that a schema names."""
    match schema.get("format"):
        case "date-time":
            return f"20{chance.randint(10, 40)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T12:00:00Z"
        case "date":
            return f"20{chance.randint(10, 40)}-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
        case "uuid":
            return f"{chance.getrandbits(32):08x}-0000-7000-8000-{chance.getrandbits(48):012x}"
        case "email":
            return f"u{chance.randint(0, 999)}@example.org"
    least, most = schema.get("minLength", 1), min(schema.get("maxLength", 12), 12)
    return "".join(chance.choice("abcdefghijkmnopqrstuvwxyz") for _ in range(chance.randint(least, max(least, most))))
