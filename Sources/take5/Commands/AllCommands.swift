extension RoomProgram {
  /// The rooms that bring commands, in the order of the help.
  static let all: [RoomProgram] = [.webhooks]
}

extension Subcommand {
  /// The commands of the program, in the order of the help.
  static let all = ofApp + RoomProgram.all.flatMap(\.commands) + ofOperators

  private static let ofApp: [Subcommand] = [
    .`init`, .serve, .worker, .submitPost, .submitPhoto, .submitMarker, .submitReaction, .submitProfileImage,
    .submitThumbnail, .submitPlacePhoto, .postsList, .postsShow, .postsSave, .postsFiles, .postsExport,
    .jobsList, .jobsShow, .jobsRetry, .jobsCancel, .jobsStats,
    .keysCreate, .keysList, .keysRevoke, .keysRotateSigning,
    .reprocess, .reprocessStatus, .reprocessPause, .reprocessResume, .reprocessCancel,
    .usersList, .usersShow, .usersRename, .usersResetPassword, .usersDisable, .usersEnable, .usersExport, .usersDelete,
    .devices,
    .moderationList, .moderationShow, .moderationApprove, .moderationHide, .moderationSuspend,
    .window, .windowSet, .windowClear, .windowPreview,
  ]

  private static let ofOperators: [Subcommand] = [
    .quarantineList, .quarantineShow, .quarantineExport, .quarantineRelease,
    .validate, .inspect, .compose, .still, .photo, .definitionList, .definitionShow,
    .definitionCheck, .definitionWrite, .backup, .restore, .verify, .gc, .gcHold, .gcRelease, .blobsMove, .database,
    .databaseUpgrade, .databaseChecksums, .migrate,
    .doctor, .config, .completions, .manual, .version,
  ]
}
