// Package surehook is Surehook as a construct for the CDK: it says which AWS
// resources a deployment has and what each function may do with them. It shares
// with the functions only the words of internal/names, and knows nothing of how
// they work.
//
// New puts a whole Surehook into a stack of another app. NewStack makes the
// stack that the command infra deploys, which is one such construct and the
// rules that it is held to.
package surehook
