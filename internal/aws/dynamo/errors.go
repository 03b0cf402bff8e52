package dynamo

import (
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

// Codes of the reasons for a cancelled transaction. The answer lists one reason
// per write, in the order of the writes; see the API reference of
// TransactWriteItems.
const (
	reasonCondition = "ConditionalCheckFailed"
	reasonConflict  = "TransactionConflict"
	reasonThrottled = "ThrottlingError"
	reasonCapacity  = "ProvisionedThroughputExceeded"
)

// changedMeanwhile is the message of a failed condition without another one.
const changedMeanwhile = "the record exists already or was changed meanwhile"

// translate returns err as a hook.Error, wrapped with op, the operation. A nil err
// stays nil.
func translate(err error, op string) error {
	if err == nil {
		return nil
	}
	e := &hook.Error{Code: codeOf(err), Message: "the store did not take the request", Err: err}
	switch {
	case e.Code == hook.CodeConflict:
		e.Message = changedMeanwhile
	case awserr.Refused(err):
		e.Message = "the store is missing, disabled or not permitted"
	case e.Code == hook.CodeUnavailable:
		e.Message = "the store did not answer; try again"
	}
	return fmt.Errorf("%s: %w", op, e)
}

// codeOf maps an error of the SDK to a code: CodeConflict for a failed condition,
// CodeUnavailable when the same request may succeed later or once somebody restores the
// table or its permission, CodeInternal in all other cases.
func codeOf(err error) hook.Code {
	if _, _, failed := firstRefused(err); failed { // of a transaction, too, because a retry cannot succeed
		return hook.CodeConflict
	}
	if _, ok := errors.AsType[*types.TransactionConflictException](err); ok {
		return hook.CodeUnavailable
	}
	if interrupted(err) || errors.Is(err, errUnprocessed) || awserr.Retryable(err) || awserr.Refused(err) {
		return hook.CodeUnavailable
	}
	return hook.CodeInternal
}

// interrupted reports whether another transaction, or a throttle, canceled a transaction.
func interrupted(err error) bool {
	canceled, ok := errors.AsType[*types.TransactionCanceledException](err)
	return ok && slices.ContainsFunc(canceled.CancellationReasons, func(r types.CancellationReason) bool {
		return slices.Contains([]string{reasonConflict, reasonThrottled, reasonCapacity}, aws.ToString(r.Code))
	})
}

// firstRefused returns the first write, counted from 0, whose condition failed, with the stored item if
// the write asked for it.
func firstRefused(err error) (i int, stored attributes, failed bool) {
	if refused, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return 0, refused.Item, true
	}
	if canceled, ok := errors.AsType[*types.TransactionCanceledException](err); ok {
		for i, reason := range canceled.CancellationReasons {
			if aws.ToString(reason.Code) == reasonCondition {
				return i, reason.Item, true
			}
		}
	}
	return 0, nil, false
}
