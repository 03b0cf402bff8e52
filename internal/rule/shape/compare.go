package shape

import (
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
)

// withoutPatterns leaves regular expressions out: Go matches in the product of the sizes
// of text and pattern, before the cost of a call is known.
func withoutPatterns() *env.LibrarySubset {
	return env.NewLibrarySubset().AddExcludedFunctions(env.NewFunction(overloads.Matches))
}

// checkComparisons refuses a comparison of two values that may both be lists or maps. A
// list of 40 levels, each naming the level below twice, has 2^40 values: CEL compares all
// of them for the cost of one step. nil: all is well.
func checkComparisons(tree *ast.AST) *Error {
	var wrong *Error
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || wrong != nil || !nested(tree, e.AsCall()) {
			return
		}
		at := tree.SourceInfo().GetStartLocation(e.ID())
		wrong = &Error{
			Problem: "compares two values of unknown types; convert one of them, as in string(a) == b",
			Line:    at.Line(), Column: at.Column() + 1,
		}
	}))
	return wrong
}

// nested reports whether the call may compare lists or maps.
func nested(tree *ast.AST, call ast.CallExpr) bool {
	simple := func(i int) bool { return isSimple(tree.GetType(call.Args()[i].ID())) }
	switch call.FunctionName() {
	case operators.Equals, operators.NotEquals:
		return !simple(0) && !simple(1)
	case operators.In, operators.OldIn:
		right := tree.GetType(call.Args()[1].ID())
		elements := right.Kind() == types.MapKind || right.Kind() == types.ListKind && isSimple(right.Parameters()[0])
		return !simple(0) && !elements
	}
	return false
}

// isSimple reports whether values of the type have no parts.
func isSimple(t *types.Type) bool {
	switch t.Kind() { //nolint:exhaustive // all others have parts, or unknown ones
	case types.BoolKind, types.IntKind, types.UintKind, types.DoubleKind, types.StringKind, types.BytesKind,
		types.NullTypeKind, types.TimestampKind, types.DurationKind, types.TypeKind:
		return true
	}
	return false
}
