"""The module /client.js in a browser, with responses that a real service gives only by bad luck."""

from console import Page, opened

# A service of two uploads and of posts, whose first response to a submission is lost. `log` has what was asked of it.
SERVICE = """
const { Take5, Submission } = await import("/client.js")
const log = [], uploads = new Map(), posts = new Map()
let losses = 1
const answer = (status, headers = {}, body = null) => new Response(body && JSON.stringify(body),
    { status, headers: { "Content-Type": status < 400 ? "application/json" : "application/problem+json", ...headers } })
const problem = (status, name) => answer(status, {}, { type: `urn:take5:problem:${name}`, title: name })
async function fake(address, { method, headers, body }) {
    const path = new URL(address, location).pathname
    log.push(`${method} ${path.replace(/\\/v1\\/uploads\\/.+/, "/v1/uploads/ID")}`)
    if (path === "/v1/posts") {
        const key = headers.get("Idempotency-Key"), stored = posts.get(key)
        if (stored && stored.body !== body) return problem(422, "idempotency_key_reused")
        if (!stored) {
            const named = ["front", "back"].map(name => JSON.parse(body)[name].upload)
            if (!named.every(id => uploads.has(id))) return problem(404, "upload_not_found")
            named.forEach(id => uploads.delete(id))
            posts.set(key, { body, id: `post ${posts.size + 1}` })
        }
        if (losses-- > 0) throw new TypeError("the response is lost")
        return answer(202, {}, { id: posts.get(key).id })
    }
    const id = path.split("/")[3]
    if (method === "POST") {
        const made = `upload-${log.length}`
        uploads.set(made, 0)
        return answer(201, { Location: `/v1/uploads/${made}` })
    }
    if (!uploads.has(id)) return problem(404, "upload_not_found")
    if (method === "PATCH") uploads.set(id, uploads.get(id) + body.size)
    return answer(204, { "Upload-Offset": uploads.get(id), "Upload-Complete": method === "HEAD" ? "?0" : headers.get("Upload-Complete") })
}
const client = new Take5({ fetch: fake, retries: 0 })
const parts = ["front", "back"].map(name => [name, new File(["bytes of " + name], name, { lastModified: 1 })])
const store = new Map()
const send = (caption, key) => new Submission(client, parts, { kind: "take5", caption }, { store, key })
"""


def run(stage, script):
    """Runs a script in a page that has the module; returns its value."""
    with opened(Page(stage)) as page:
        page.page.goto(f"{stage.service.url}/console")
        return page.page.evaluate(f"async () => {{ {script} }}")


def lost_response(stage):
    """a submission whose response was lost gets its post when it is tried again, and sends no byte twice"""
    result = run(stage, SERVICE + """
        const first = send("once")
        const failure = await first.promise.catch(error => error.code)
        log.length = 0
        const again = send("once", first.key)
        const post = await again.promise
        return { failure, post: post.id, log, posts: posts.size, state: again.state, fraction: again.fraction, kept: [...store.keys()] }""")
    assert result == {"failure": "network", "post": "post 1", "log": ["POST /v1/posts"], "posts": 1, "state": "done", "fraction": 1,
                      "kept": []}, result


def lost_uploads(stage):
    """a submission that is tried again after its uploads have gone sends them again; other fields under the same key are refused"""
    result = run(stage, SERVICE + """
        const first = send("once")
        await first.promise.catch(() => {})
        posts.clear()
        const post = await send("once", first.key).promise
        losses = 1
        await send("one", "key").promise.catch(() => {})
        const refusal = await send("another", "key").promise.catch(error => error.code)
        return [post.id, refusal, posts.size]""")
    assert result == ["post 1", "idempotency_key_reused", 2], result


def cut_event(stage):
    """a stream that breaks behind the id of an event continues before that event"""
    result = run(stage, """
        const { Take5 } = await import("/client.js")
        const asked = [], got = [], stop = new AbortController()
        const texts = ["id: 4\\ndata: {}\\n\\nid: 5\\n", "id: 5\\ndata: {}\\n\\n"]
        const client = new Take5({ fetch: async (_, { headers }) => {
            asked.push(headers.get("Last-Event-ID"))
            return new Response(texts[asked.length - 1], { headers: { "Content-Type": "text/event-stream" } })
        } })
        for await (const { id } of client.events({ signal: stop.signal })) if (got.push(id) === 2) stop.abort()
        return { asked, got }""")
    assert result == {"asked": [None, "4"], "got": ["4", "5"]}, result


def long_wait(stage):
    """a stream waits for no longer than a minute, however long the service asks it to"""
    result = run(stage, """
        const { Take5 } = await import("/client.js")
        const waits = [], stop = new AbortController(), timer = setTimeout
        window.setTimeout = (body, milliseconds) => timer(body, (waits.push(milliseconds), 0))
        const client = new Take5({ fetch: async (_, { signal }) => {
            if (waits.length > 8) stop.abort()
            signal.throwIfAborted()
            return new Response("{}", { status: 503, headers: { "Retry-After": "99999999" } })
        } })
        for await (const _ of client.events({ signal: stop.signal })) { }
        window.setTimeout = timer
        return waits""")
    assert result and max(result) <= 61_000, result


def dots(stage):
    """no path with segments of dots is asked for"""
    result = run(stage, """
        const { Take5 } = await import("/client.js")
        const asked = []
        const client = new Take5({ fetch: async address => (asked.push(address), new Response("{}")) })
        const paths = ["/v1/runs/..", "/v1/runs/./x", "/v1/runs/%2E%2e/posts", "/v1/runs/.%2e?a=b", "/v1/users/a..b", "/v1/users/...", "/v1/posts?q=/../"]
        return [await Promise.all(paths.map(path => client.get(path).then(() => true, () => false))), asked.length]""")
    assert result == [[False, False, False, False, True, True, True], 3], result


def ended_signal(stage):
    """an upload that has ended leaves the signal of its caller, and is not removed with it"""
    result = run(stage, SERVICE + """
        const stop = new AbortController(), { signal } = stop
        let listeners = 0
        const [add, remove] = [signal.addEventListener, signal.removeEventListener]
        signal.addEventListener = (...all) => { listeners += 1; add.apply(signal, all) }
        signal.removeEventListener = (...all) => { listeners -= 1; remove.apply(signal, all) }
        const upload = client.upload(parts[0][1], { signal })
        await upload.promise
        const left = listeners
        stop.abort()
        return [left, upload.state]""")
    assert result == [0, "done"], result


TESTS = (lost_response, lost_uploads, cut_event, long_wait, dots, ended_signal)
