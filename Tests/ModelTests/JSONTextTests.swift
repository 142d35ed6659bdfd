import Model
import Testing

struct JSONTextTests {
  @Test(arguments: [
    ("a\0b", #""a\ufffdb""#), ("\0\0", #""\ufffd\ufffd""#), (#"\u0000"#, #""\\u0000""#), ("\\\0", #""\\\ufffd""#),
    ("plain", #""plain""#),
  ])
  func noTextHoldsANUL(text: String, json: String) throws { #expect(try JSON.text(text) == json) }
}
