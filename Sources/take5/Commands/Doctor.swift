import Model

extension Subcommand {
  static let doctor = Subcommand(
    "doctor", abstract: "Check what a service with these options needs, and change nothing; status 1 after an error.",
    options: serviceOptions + [.json], example: "take5 doctor --listen 0.0.0.0:8080 --data .take5",
    reportsConfiguration: true
  ) { arguments in
    let subject = await DoctorSubject(
      arguments, keys: ConfigurationKeys(of: Subcommand.all), options: serviceOptions.filter { $0.placeholder != nil })
    let outcome: Result<DoctorReport, any Error>
    do { outcome = .success(try await DoctorReport.make(DoctorCheck.all, of: subject)) } catch {
      outcome = .failure(error)
    }
    await subject.close()
    let report = try outcome.get()
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.text)
    return report.status
  }
}
