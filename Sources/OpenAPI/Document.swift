/// The OpenAPI 3.1 document of the control API, in JSON.
///
/// A target of its own: as an array in code it takes longer to compile than the rest of the API, which changes more often.
package let document: [UInt8] = PackageResources.openapi_json
