"""Traces: a collector that decodes with opentelemetry-proto, and what it must receive."""

import http.server
import threading

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from programs import KEY, wait_until

# The client's own trace and span, as W3C's Trace Context has them as an example.
TRACE = "0af7651916cd43dd8448eb211c80319c"
CLIENT = "b7ad6b7169203331"
STAGES = {"fetch", "probe", "compose", "publish", "commit"}


class Collector:
    """Receives OTLP over HTTP, and keeps the spans with the attributes of their processes."""

    # As OTEL_EXPORTER_OTLP_HEADERS says it.
    HEADERS = "x-tenant=moments%20of%20all"

    def __init__(self):
        self.spans, self.headers, self.refuses = [], [], False
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if collector.refuses:
                    return self.reply(503, b"")
                assert self.path == "/v1/traces" and self.headers["Content-Type"] == "application/x-protobuf"
                collector.headers.append(self.headers["x-tenant"])
                request = ExportTraceServiceRequest.FromString(body)
                # What the decoder does not know it keeps: then the length would be another one.
                assert len(request.SerializeToString()) == len(body)
                request.DiscardUnknownFields()
                assert len(request.SerializeToString()) == len(body)
                for resource in request.resource_spans:
                    process = attributes(resource.resource)
                    for scope in resource.scope_spans:
                        collector.spans += [(span, process) for span in scope.spans]
                self.reply(200, ExportTraceServiceResponse().SerializeToString())

            def reply(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def environment(self):
        return {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.server.server_address[1]}",
            "OTEL_EXPORTER_OTLP_HEADERS": self.HEADERS, "OTEL_SERVICE_NAME": "take5-test", "no_proxy": "127.0.0.1",
        }

    def of(self, trace):
        return [(span, process) for span, process in self.spans if span.trace_id.hex() == trace]

    def close(self):
        self.server.shutdown()


def attributes(holder):
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in holder.attributes}


def check_trace(system):
    """One trace from the request of the client to each stage, in another process, and to the object store."""
    collector = system.collector
    # It asks the store for blobs that it has not seen since it started.
    system.service.restart()
    post = system.service.submit("traced", traceparent=f"00-{TRACE}-{CLIENT}-01")
    system.service.wait_for(post)

    def is_whole():
        return STAGES | {"POST /v1/posts", "process media"} <= {span.name for span, _ in collector.of(TRACE)}

    wait_until(is_whole, "all spans of the trace")
    spans = collector.of(TRACE)
    by_id = {span.span_id: span for span, _ in spans}
    assert len(by_id) == len(spans), "two spans have the same id"
    [(request, api)] = [(span, process) for span, process in spans if span.name == "POST /v1/posts"]
    [(attempt, worker)] = [(span, process) for span, process in spans if span.name == "process media"]
    assert request.kind == Span.SPAN_KIND_SERVER and request.parent_span_id.hex() == CLIENT
    assert attributes(request)["http.response.status_code"] == 202
    assert attempt.kind == Span.SPAN_KIND_CONSUMER and attempt.parent_span_id == request.span_id
    assert attributes(attempt)["take5.job.outcome"] == "accepted" and attempt.status.code == Status.STATUS_CODE_UNSET
    assert api["process.pid"] == system.service.process.pid and api["service.name"] == "take5-test"
    assert worker["process.pid"] in {process.process.pid for process in system.workers}
    # The first look has stages of the same names.
    stages = {span.name: span for span, _ in spans if span.parent_span_id == attempt.span_id and span.name in STAGES}
    assert set(stages) == STAGES, stages
    for stage in stages.values():
        assert stage.kind == Span.SPAN_KIND_INTERNAL
        # A span lies within that of the attempt.
        assert attempt.start_time_unix_nano <= stage.start_time_unix_nano <= stage.end_time_unix_nano
        assert stage.end_time_unix_nano <= attempt.end_time_unix_nano
    assert request.start_time_unix_nano < attempt.start_time_unix_nano
    store = [span for span, _ in spans if span.name.startswith("store ")]
    parents = {by_id[span.parent_span_id].name for span in store}
    assert {"POST /v1/posts", "fetch", "publish"} <= parents, parents
    assert all(span.kind == Span.SPAN_KIND_CLIENT for span in store)
    assert set(collector.headers) == {"moments of all"}


def check_sampling(system):
    """A client that does not sample its trace gets none; a trace begins at a request without one, or with an invalid one."""
    for text in [f"00-{'1' * 32}-{CLIENT}-00", f"00-{'2' * 32}-{CLIENT}-0", None]:
        headers = {"traceparent": text} if text else {}
        system.service.wait_for(system.service.submit(f"sampled-{text}", **headers))
    marks = {span.trace_id for span, _ in system.collector.spans if span.name == "process media"}
    wait_until(lambda: len({span.trace_id for span, _ in system.collector.spans if span.name == "process media"}) >= 3,
               f"the traces that began here, next to {len(marks)}")
    assert not system.collector.of("1" * 32) and not system.collector.of("2" * 32)


def check_silent_service(system):
    """A service without a collector passes the trace of its client on to a worker that has one."""
    trace, environment = "3" * 32, system.service.environment
    system.service.environment = {
        name: value for name, value in environment.items() if name != "OTEL_EXPORTER_OTLP_ENDPOINT"}
    system.service.restart()
    system.service.wait_for(system.service.submit("traced-on", traceparent=f"00-{trace}-{CLIENT}-01"))
    wait_until(lambda: "process media" in {span.name for span, _ in system.collector.of(trace)}, "the attempt's span")
    spans = {span.name: span for span, _ in system.collector.of(trace)}
    assert "POST /v1/posts" not in spans and spans["process media"].parent_span_id.hex() == CLIENT
    system.service.environment = environment
    system.service.restart()


def check_percent(system):
    """Of the traces that strangers sample, as many are sampled as --trace-percent says."""
    def attempts():
        return {span.trace_id for span, _ in system.collector.spans if span.name == "process media"}

    trace, environment = "4" * 32, system.service.environment
    system.service.environment = environment | {"TAKE5_TRACE_PERCENT": "0"}
    system.service.restart()
    system.service.wait_for(system.service.submit("strange", traceparent=f"00-{trace}-{CLIENT}-01"))
    system.service.environment = environment
    system.service.restart()
    before = attempts()
    system.service.wait_for(system.service.submit("later"))
    wait_until(lambda: attempts() > before, "the trace of a later request")
    assert not system.collector.of(trace)


def check_privacy(system):
    """No span has a secret, the name of a user or an address."""
    for span, process in system.collector.spans:
        text = f"{span} {process}"
        for secret in [KEY, "sampled-", "traced", "127.0.0.1", "postgres"]:
            assert secret not in text, text


def check_outage(system):
    """Without the collector work goes on, and what is lost is counted."""

    def dropped():
        lines = system.service.get("/metrics")[1].decode().splitlines()
        return sum(float(line.split()[1]) for line in lines if line.startswith('take5_spans_total{result="dropped"}'))

    before = dropped()
    system.collector.refuses = True
    system.service.wait_for(system.service.submit("untraced"))
    wait_until(lambda: dropped() > before, "spans that are dropped")
    system.collector.refuses = False


def check(system):
    for function in [check_trace, check_sampling, check_silent_service, check_percent, check_privacy, check_outage]:
        function(system)
        print(f"traces: {function.__doc__}", flush=True)
