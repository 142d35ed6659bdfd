"""Layers of an image, and the archive that holds them: the one of Docker's image specification 1.2, which is a layout of OCI too."""

import gzip
import hashlib
import io
import json
import tarfile
import tempfile
import time

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
CONFIG = "application/vnd.docker.container.image.v1+json"
LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


class Hashing:
    """A file that counts and hashes what is written to it."""

    def __init__(self, file):
        self.file, self.hash, self.size = file, hashlib.sha256(), 0

    def write(self, data):
        self.hash.update(data)
        self.size += len(data)
        return self.file.write(data)

    def flush(self):
        self.file.flush()

    @property
    def digest(self):
        return f"sha256:{self.hash.hexdigest()}"


class Layer:
    """A compressed tar archive, with the digests of both forms."""

    def __enter__(self):
        self.file = tempfile.TemporaryFile(dir="/var/tmp")
        self.compressed = Hashing(self.file)
        self.gzip = gzip.GzipFile("", "wb", 6, self.compressed, mtime=0)
        self.plain = Hashing(self.gzip)
        self.tar = tarfile.open(mode="w|", fileobj=self.plain, format=tarfile.PAX_FORMAT)
        return self

    def add(self, member, content):
        self.tar.addfile(member, content)

    def __exit__(self, *failure):
        self.tar.close()
        self.gzip.close()


def write_archive(path, tags, architecture, epoch, description, layers):
    """Writes the archive. Returns the digest of the image, that of its manifest, and the size of its layers in bytes."""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))
    description["Labels"]["org.opencontainers.image.created"] = created
    config = encode({
        "architecture": architecture, "os": "linux", "created": created, "config": description,
        "rootfs": {"type": "layers", "diff_ids": [layer.plain.digest for layer in layers]},
        "history": [{"created": created, "created_by": "Sources/Packaging/image/build.py"} for _ in layers],
    })
    manifest = encode({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(CONFIG, config),
        "layers": [{"mediaType": LAYER, "digest": layer.compressed.digest, "size": layer.compressed.size} for layer in layers],
    })
    described = descriptor(MANIFEST, manifest)
    index = encode({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{**described, "annotations": {"org.opencontainers.image.ref.name": tag}} for tag in tags],
    })
    names = encode([{"Config": blob(digest(config)), "RepoTags": tags, "Layers": [blob(layer.compressed.digest) for layer in layers]}])
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        def add(name, size, content):
            member = tarfile.TarInfo(name)
            member.size, member.mtime = size, epoch
            tar.addfile(member, content)
        for name, data in [("oci-layout", encode({"imageLayoutVersion": "1.0.0"})), ("index.json", index), ("manifest.json", names),
                           (blob(digest(config)), config), (blob(digest(manifest)), manifest)]:
            add(name, len(data), io.BytesIO(data))
        for layer in layers:
            layer.file.seek(0)
            add(blob(layer.compressed.digest), layer.compressed.size, layer.file)
    return described["digest"], sum(layer.compressed.size for layer in layers)


def encode(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def digest(data):
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def descriptor(kind, data):
    return {"mediaType": kind, "digest": digest(data), "size": len(data)}


def blob(name):
    return f"blobs/{name.replace(':', '/')}"
