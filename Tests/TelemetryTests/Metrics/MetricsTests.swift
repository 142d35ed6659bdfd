import Telemetry
import Testing

@Suite("Metrics")
struct MetricsTests {
  @Test("counters, gauges and histograms have Prometheus' text format")
  func text() {
    let metrics = Metrics()
    metrics.count("requests_total", "Requests.", ["status": "200", "method": "GET"])
    metrics.count("requests_total", "Requests.", ["method": "GET", "status": "200"], by: 2)
    metrics.count("requests_total", "Requests.", ["method": "a\"b\\c\nd", "status": "404"])
    metrics.observe("stage_seconds", "Stages.", ["stage": "probe"], seconds: 0.3)
    metrics.observe("stage_seconds", "Stages.", ["stage": "probe"], seconds: 400)
    let text = metrics.text(with: [MetricGauge("depth", "Jobs that wait.", ["kind": "post"], 7)])
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.prefix(3) == ["# HELP depth Jobs that wait.", "# TYPE depth gauge", #"depth{kind="post"} 7"#])
    #expect(lines.contains(#"requests_total{method="GET",status="200"} 3"#))
    #expect(lines.contains(#"requests_total{method="a\"b\\c\nd",status="404"} 1"#))
    #expect(lines.contains(#"stage_seconds_bucket{stage="probe",le="0.25"} 0"#))
    #expect(lines.contains(#"stage_seconds_bucket{stage="probe",le="0.5"} 1"#))
    #expect(lines.contains(#"stage_seconds_bucket{stage="probe",le="300"} 1"#))
    #expect(lines.contains(#"stage_seconds_bucket{stage="probe",le="+Inf"} 2"#))
    #expect(lines.contains(#"stage_seconds_sum{stage="probe"} 400.3"#))
    #expect(text.hasSuffix("\n"))
  }

  @Test("a histogram has the buckets of its family, and each counts what is not above its bound")
  func buckets() {
    let metrics = Metrics()
    for seconds in [0.002, 0.0025, 0.2, 31] { metrics.observe("near", "Near.", [:], .request, seconds: seconds) }
    metrics.observe("far", "Far.", [:], .wait, seconds: 7200)
    let lines = metrics.text().split(separator: "\n").map(String.init)
    let near = lines.filter { $0.hasPrefix("near_bucket") }
    #expect(
      near.prefix(3) == [#"near_bucket{le="0.001"} 0"#, #"near_bucket{le="0.0025"} 2"#, #"near_bucket{le="0.005"} 2"#])
    #expect(near.suffix(2) == [#"near_bucket{le="30"} 3"#, #"near_bucket{le="+Inf"} 4"#])
    #expect(lines.contains(#"far_bucket{le="3600"} 0"#) && lines.contains(#"far_bucket{le="14400"} 1"#))
  }
}
