package awserr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"surehook.example/surehook/internal/aws/awserr"
	"surehook.example/surehook/internal/hook"
)

// answered returns the SDK's error for an answer with the status and code.
func answered(status int, code string) error {
	return &smithy.OperationError{ServiceID: "S", OperationName: "O", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "no"},
	}}
}

func TestOf_TellsTemporaryFromLastingErrors(t *testing.T) {
	t.Parallel()

	const refused = "the thing is missing, disabled or not permitted"
	tests := []struct {
		name    string
		err     error
		want    hook.Code
		message string
		refused bool
	}{
		{name: "throttling", err: answered(http.StatusBadRequest, "ThrottlingException"), want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "too many requests", err: answered(http.StatusBadRequest, "TooManyRequestsException"), want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "a server fault", err: answered(http.StatusInternalServerError, "Unheard"), want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "an unavailable service", err: answered(http.StatusServiceUnavailable, ""), want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "an unsent request", err: &smithyhttp.RequestSendError{Err: io.EOF}, want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "a reset connection", err: &net.OpError{Op: "read", Err: syscall.ECONNRESET}, want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "a truncated answer", err: &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}, want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "a cancelled context in the error", err: &aws.RequestCanceledError{Err: context.Canceled}, want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "a passed deadline in the error", err: fmt.Errorf("wait: %w", context.DeadlineExceeded), want: hook.CodeUnavailable, message: "the thing is not available"},
		{name: "a role without permission", err: answered(http.StatusBadRequest, "AccessDeniedException"), want: hook.CodeUnavailable, message: refused, refused: true},
		{name: "a queue without permission", err: answered(http.StatusForbidden, "AccessDenied"), want: hook.CodeUnavailable, message: refused, refused: true},
		{name: "a deleted queue", err: answered(http.StatusBadRequest, "AWS.SimpleQueueService.NonExistentQueue"), want: hook.CodeUnavailable, message: refused, refused: true},
		{name: "a deleted queue, as JSON says it", err: answered(http.StatusBadRequest, "QueueDoesNotExist"), want: hook.CodeUnavailable, message: refused, refused: true},
		{name: "a deleted table", err: answered(http.StatusBadRequest, "ResourceNotFoundException"), want: hook.CodeUnavailable, message: refused, refused: true},
		{name: "a disabled key", err: answered(http.StatusBadRequest, "DisabledException"), want: hook.CodeUnavailable, message: refused, refused: true},
		{name: "a key that will be deleted", err: answered(http.StatusBadRequest, "KMSInvalidStateException"), want: hook.CodeUnavailable, message: refused, refused: true},
		{name: "an invalid request", err: answered(http.StatusBadRequest, "ValidationException"), want: hook.CodeInternal, message: "the thing refused the request"},
		{name: "anything else", err: errors.New("a bug"), want: hook.CodeInternal, message: "the thing refused the request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := awserr.Of(t.Context(), tt.err, "the thing")
			e, ok := errors.AsType[*hook.Error](got)
			if !ok || e.Code != tt.want || e.Message != tt.message || !errors.Is(got, tt.err) {
				t.Errorf("Of(%v) = %v (%s); want %s, %q, wrapping the error", tt.err, got, hook.CodeOf(got), tt.want, tt.message)
			}
			if got, want := awserr.Retryable(tt.err), tt.want == hook.CodeUnavailable && !tt.refused; got != want {
				t.Errorf("Retryable(%v) = %t; want %t", tt.err, got, want)
			}
			if got := awserr.Refused(tt.err); got != tt.refused {
				t.Errorf("Refused(%v) = %t; want %t", tt.err, got, tt.refused)
			}
		})
	}
}

func TestOf_EndedContextTakesPrecedence(t *testing.T) {
	t.Parallel()

	cause, refused := errors.New("no answer in time"), answered(http.StatusBadRequest, "AccessDeniedException")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	got := awserr.Of(ctx, refused, "the thing")
	e, ok := errors.AsType[*hook.Error](got)
	if !ok || e.Code != hook.CodeUnavailable || e.Message != "the thing did not answer" || !errors.Is(got, cause) || !errors.Is(got, refused) {
		t.Errorf("Of(ended context) = %v (%s); want unavailable, with the cause and the error", got, hook.CodeOf(got))
	}
}
