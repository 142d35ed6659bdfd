internal import CCurl
import Glibc
import Platform

/// An easy handle of libcurl (libcurl-easy(3)), with the connection that it keeps open for the next request.
struct EasyHandle: ~Copyable, @unchecked Sendable {
  // Unchecked: the handle has one owner, which moves it between threads.
  private let handle: UnsafeMutableRawPointer
  /// The error message of libcurl (CURLOPT_ERRORBUFFER(3)).
  private let message: UnsafeMutablePointer<CChar>

  // Called once, before any other function of libcurl (curl_global_init(3)).
  private static let library: CURLcode = {
    SharedLibraries.open("libcurl.so.4")
    return curl_global_init(ccurl_global_default)
  }()

  init() throws(HTTPClientError) {
    guard Self.library == CURLE_OK, let handle = curl_easy_init() else {
      throw HTTPClientError("libcurl cannot be initialized: \(String(cString: curl_easy_strerror(Self.library)))")
    }
    self.handle = handle
    message = .allocate(capacity: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_easy_cleanup(handle)
    message.deallocate()
  }

  /// Resets the options of the last request; its connection stays open.
  borrowing func reset() {
    curl_easy_reset(handle)
    message[0] = 0
    check(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, message), CURLOPT_ERRORBUFFER)
    // In a process with threads, libcurl must not use signals.
    set(CURLOPT_NOSIGNAL, 1)
  }

  borrowing func set(_ option: CURLoption, _ number: Int) { check(ccurl_set_number(handle, option, number), option) }

  /// Sets an option to a text, which libcurl copies.
  borrowing func set(_ option: CURLoption, _ text: String) { check(ccurl_set_text(handle, option, text), option) }

  borrowing func set(_ headers: borrowing HeaderList) {
    check(ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, headers.first), CURLOPT_HTTPHEADER)
  }

  /// Sets the reader of the body, if the request has one.
  borrowing func set(_ body: BodyReader) {
    guard let count = body.count else { return }
    let reader = Unmanaged.passUnretained(body).toOpaque()
    for option in [CURLOPT_READDATA, CURLOPT_SEEKDATA] { check(ccurl_set_pointer(handle, option, reader), option) }
    check(ccurl_set_reader(handle, readBody), CURLOPT_READFUNCTION)
    check(ccurl_set_seeker(handle, seekBody), CURLOPT_SEEKFUNCTION)
    set(CURLOPT_UPLOAD, 1)
    set(CURLOPT_INFILESIZE_LARGE, Int(count))
  }

  /// Sets the transfer that receives the response and the progress.
  borrowing func set(_ transfer: Transfer) {
    let listener = Unmanaged.passUnretained(transfer).toOpaque()
    for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_XFERINFODATA, CURLOPT_OPENSOCKETDATA] {
      check(ccurl_set_pointer(handle, option, listener), option)
    }
    check(ccurl_set_receiver(handle, CURLOPT_HEADERFUNCTION, receiveHeader), CURLOPT_HEADERFUNCTION)
    check(ccurl_set_receiver(handle, CURLOPT_WRITEFUNCTION, receiveBody), CURLOPT_WRITEFUNCTION)
    check(ccurl_set_progress(handle, reportProgress), CURLOPT_XFERINFOFUNCTION)
    check(ccurl_set_open_socket(handle, openSocket), CURLOPT_OPENSOCKETFUNCTION)
    set(CURLOPT_NOPROGRESS, 0)
  }

  /// Sends the request and receives the response; blocks.
  borrowing func perform() -> CURLcode { curl_easy_perform(handle) }

  /// The cause of a failure, as text of libcurl or the system.
  borrowing func cause(of code: CURLcode) -> String {
    let text = String(cString: message)
    guard code == CURLE_COULDNT_CONNECT else { return text.isEmpty ? String(cString: curl_easy_strerror(code)) : text }
    // libcurl names the address, the system the error.
    var number = 0
    ccurl_get_number(handle, CURLINFO_OS_ERRNO, &number)
    return number == 0
      ? text
      : text.replacing(": Couldn't connect to server", with: "")
        + ": \(String(cString: strerror(Int32(number))))"
  }

  /// Whether the last request established a connection.
  var isConnected: Bool {
    var microseconds: curl_off_t = 0
    ccurl_get_count(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds)
    return microseconds > 0
  }

  // An option fails only without memory, or if libcurl is older than its headers; a caller cannot handle either.
  private borrowing func check(_ code: CURLcode, _ option: CURLoption) {
    guard code == CURLE_OK else { fatalError("libcurl's option \(option.rawValue): \(code.rawValue)") }
  }
}

/// Header fields in addition to libcurl's (curl_slist_append(3)).
struct HeaderList: ~Copyable {
  private(set) var first: UnsafeMutablePointer<curl_slist>?

  mutating func append(_ name: String, _ value: String) {
    guard let first = curl_slist_append(first, "\(name): \(value)") else { fatalError("no memory for a header") }
    self.first = first
  }

  deinit { curl_slist_free_all(first) }
}
