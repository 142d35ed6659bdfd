internal import CCurl
import Glibc

/// One of libcurl's transfers (libcurl-easy(3)), with the connection that it keeps for the next request.
struct EasyHandle: ~Copyable, @unchecked Sendable {
  // Unchecked: the handle has this one owner, who moves it from thread to thread as a whole.
  private let handle: UnsafeMutableRawPointer
  /// What libcurl says of a failure (CURLOPT_ERRORBUFFER(3)).
  private let message: UnsafeMutablePointer<CChar>

  // Before any other call, and once (curl_global_init(3)).
  private static let library = curl_global_init(ccurl_global_default)

  init() throws(HTTPClientError) {
    guard Self.library == CURLE_OK, let handle = curl_easy_init() else {
      throw HTTPClientError("libcurl cannot be used: \(String(cString: curl_easy_strerror(Self.library)))")
    }
    self.handle = handle
    message = .allocate(capacity: Int(CURL_ERROR_SIZE))
  }

  deinit {
    curl_easy_cleanup(handle)
    message.deallocate()
  }

  /// Forgets the options of the last request; its connection stays.
  borrowing func reset() {
    curl_easy_reset(handle)
    message[0] = 0
    check(ccurl_set_pointer(handle, CURLOPT_ERRORBUFFER, message), CURLOPT_ERRORBUFFER)
    // Other threads run: no signal may end a wait, and a socket goes to no child.
    set(CURLOPT_NOSIGNAL, 1)
    check(ccurl_set_open_socket(handle, openSocket), CURLOPT_OPENSOCKETFUNCTION)
  }

  borrowing func set(_ option: CURLoption, _ number: Int) { check(ccurl_set_number(handle, option, number), option) }

  /// libcurl keeps a copy of the text.
  borrowing func set(_ option: CURLoption, _ text: String) { check(ccurl_set_text(handle, option, text), option) }

  borrowing func set(_ headers: borrowing HeaderList) {
    check(ccurl_set_pointer(handle, CURLOPT_HTTPHEADER, headers.first), CURLOPT_HTTPHEADER)
  }

  borrowing func set(_ form: borrowing MimeForm) {
    check(ccurl_set_pointer(handle, CURLOPT_MIMEPOST, UnsafeMutableRawPointer(form.form)), CURLOPT_MIMEPOST)
  }

  /// Says who hears of the answer, and of how much is sent.
  borrowing func set(_ exchange: Exchange) {
    let listener = Unmanaged.passUnretained(exchange).toOpaque()
    for option in [CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_XFERINFODATA] {
      check(ccurl_set_pointer(handle, option, listener), option)
    }
    check(ccurl_set_receiver(handle, CURLOPT_HEADERFUNCTION, receiveHeader), CURLOPT_HEADERFUNCTION)
    check(ccurl_set_receiver(handle, CURLOPT_WRITEFUNCTION, receiveBody), CURLOPT_WRITEFUNCTION)
    check(ccurl_set_progress(handle, tellProgress), CURLOPT_XFERINFOFUNCTION)
    set(CURLOPT_NOPROGRESS, 0)
  }

  /// A form of this handle's; whoever made it frees it.
  borrowing func form() -> OpaquePointer? { curl_mime_init(handle) }

  /// Sends the request and takes the answer in; blocks.
  borrowing func perform() -> CURLcode { curl_easy_perform(handle) }

  /// Why it failed, in libcurl's words.
  borrowing func cause(of code: CURLcode) -> String {
    let said = String(cString: message)
    guard code == CURLE_COULDNT_CONNECT else { return said.isEmpty ? String(cString: curl_easy_strerror(code)) : said }
    // It tells where, and the system why.
    var number = 0
    ccurl_get_number(handle, CURLINFO_OS_ERRNO, &number)
    return number == 0
      ? said
      : said.replacing(": Couldn't connect to server", with: "")
        + ": \(String(cString: strerror(Int32(number))))"
  }

  /// Whether the last request got as far as a connection.
  var isConnected: Bool {
    var microseconds: curl_off_t = 0
    ccurl_get_count(handle, CURLINFO_PRETRANSFER_TIME_T, &microseconds)
    return microseconds > 0
  }

  // An option fails only when memory is out or libcurl is older than its headers: no caller could go on.
  private borrowing func check(_ code: CURLcode, _ option: CURLoption) {
    guard code == CURLE_OK else { fatalError("libcurl's option \(option.rawValue): \(code.rawValue)") }
  }
}

private func openSocket(
  _: UnsafeMutableRawPointer?, _: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
  guard let address = address?.pointee else { return -1 }
  return socket(address.family, address.socktype | Int32(SOCK_CLOEXEC.rawValue), address.`protocol`)
}
