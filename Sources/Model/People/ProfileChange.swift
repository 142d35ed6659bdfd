/// A change of a profile: of some members, or of all.
package struct ProfileChange: Sendable, Hashable {
  package var userName: MemberChange<String>
  package var name: MemberChange<String>
  package var givenName: MemberChange<String>
  package var familyName: MemberChange<String>
  package var bio: MemberChange<String>
  package var birthDate: MemberChange<String>
  package var email: MemberChange<String>
  package var fields: FieldChange
  /// Whether it was meant to say all of the user. A user name that it leaves out was forgotten then: others could take it.
  package var isReplacement: Bool

  package init(
    userName: MemberChange<String> = .keep, name: MemberChange<String> = .keep,
    givenName: MemberChange<String> = .keep, familyName: MemberChange<String> = .keep,
    bio: MemberChange<String> = .keep, birthDate: MemberChange<String> = .keep, email: MemberChange<String> = .keep,
    fields: FieldChange = .none, isReplacement: Bool = false
  ) {
    self.userName = userName
    self.name = name
    self.givenName = givenName
    self.familyName = familyName
    self.bio = bio
    self.birthDate = birthDate
    self.email = email
    self.fields = fields
    self.isReplacement = isReplacement
  }

  /// The change that makes a profile of any other.
  package init(_ profile: Profile) {
    self.init(
      userName: .set(profile.userName), name: .set(profile.name), givenName: .set(profile.givenName),
      familyName: .set(profile.familyName), bio: .set(profile.bio), birthDate: .set(profile.birthDate),
      email: .set(profile.email), fields: FieldChange(profile.fields ?? [:], replacesAll: true), isReplacement: true)
  }

  /// Applies the change to a profile.
  package func applied(to profile: Profile) -> Profile {
    Profile(
      userName: userName.applied(to: profile.userName), name: name.applied(to: profile.name),
      givenName: givenName.applied(to: profile.givenName), familyName: familyName.applied(to: profile.familyName),
      bio: bio.applied(to: profile.bio), birthDate: birthDate.applied(to: profile.birthDate),
      email: email.applied(to: profile.email),
      fields: fields.applied(to: profile.fields))
  }
}
