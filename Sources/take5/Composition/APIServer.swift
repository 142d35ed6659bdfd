import ControlAPI
import HTTPServer
import Logging

/// The HTTP server with the API behind it and the log beside it.
enum APIServer {
  /// Binds and listens; status 69 if the address is taken or is not this machine's.
  static func listen(on address: ListenAddress, api: ControlAPI, log: Logger) throws(CommandFailure) -> Server {
    let observer = ServerObserver(
      onAccess: { record in
        log.info(
          "request",
          [
            "method": record.method, "path": record.path, "status": "\(record.status)", "bytes": "\(record.bytes)",
            "milliseconds": "\(Int(record.milliseconds.rounded()))", "request": record.requestID.description,
          ])
      },
      onFailure: { error, request in
        log.error("a request failed", ["error": "\(error)", "request": request.id.description])
      })
    do {
      return try Server(
        configuration: ServerConfiguration(host: address.host, port: address.port), router: api.router,
        observer: observer)
    } catch {
      throw CommandFailure(.unavailable, "\(error)", remedy: "choose another address with --listen")
    }
  }
}
