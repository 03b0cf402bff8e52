// Package formats keeps what each build wrote, and proves that today's code reads it: the
// items of the table, the bodies of messages, and the cursors of lists.
//
// testdata has a folder for each build. The folder unreleased belongs to today's code; a
// release copies it under its version. A folder has
//
//   - items, one file per kind of item, in DynamoDB's JSON;
//   - messages.json and cursors.json, by name;
//   - meaning, what today's code reads of all this, without fields that are zero.
//
// Three tests hold the folders:
//
//   - TestRead: today's code reads the folder of every build as its meaning says;
//   - TestWritten: today's code writes the folder unreleased, byte for byte, so that a review
//     sees every change of a format;
//   - TestComplete: every kind of item and every attribute that the suite of the store
//     writes, every field and word of the records, every message and every list of the
//     contract is in the folder unreleased.
//
// After a change of a format, read the difference that this command makes:
//
//	go test ./proof/formats -args -update
//
// It writes the folder unreleased, and the meanings of all builds. It never changes what a
// released build wrote. If the meaning of a released build changes, that is a mistake, unless
// only a name in the code has changed.
//
// The values of some attributes are random: see settled. Another version of the compression
// library may compress payloads to other bytes, which is not a change of a format.
package formats
