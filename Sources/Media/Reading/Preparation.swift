import Model

/// The form in which a composition wants an input's pictures: upright, in one size, in the outputs' colours.
struct Preparation: Hashable, Sendable {
  let layout: FrameLayout
  let size: Size
}
