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

	"surehook/internal/aws/awserr"
	"surehook/internal/hook"
)

// answered is the SDK's error for an answer with the status and the code.
func answered(status int, code string) error {
	return &smithy.OperationError{ServiceID: "S", OperationName: "O", Err: &smithyhttp.ResponseError{
		Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}},
		Err:      &smithy.GenericAPIError{Code: code, Message: "no"},
	}}
}

func TestOf(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name    string
		err     error
		want    hook.Code
		message string
	}{
		{"throttling", answered(http.StatusBadRequest, "ThrottlingException"), hook.CodeUnavailable, "the thing is not available"},
		{"too many requests", answered(http.StatusBadRequest, "TooManyRequestsException"), hook.CodeUnavailable, "the thing is not available"},
		{"a server fault", answered(http.StatusInternalServerError, "Unheard"), hook.CodeUnavailable, "the thing is not available"},
		{"a service that is away", answered(http.StatusServiceUnavailable, ""), hook.CodeUnavailable, "the thing is not available"},
		{"a request that could not be sent", &smithyhttp.RequestSendError{Err: io.EOF}, hook.CodeUnavailable, "the thing is not available"},
		{"a connection that was reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, hook.CodeUnavailable, "the thing is not available"},
		{"an answer that broke off", &smithy.DeserializationError{Err: io.ErrUnexpectedEOF}, hook.CodeUnavailable, "the thing is not available"},
		{"a context inside that was cancelled", &aws.RequestCanceledError{Err: context.Canceled}, hook.CodeUnavailable, "the thing is not available"},
		{"a deadline inside that passed", fmt.Errorf("wait: %w", context.DeadlineExceeded), hook.CodeUnavailable, "the thing is not available"},
		{"a role that may not", answered(http.StatusBadRequest, "AccessDeniedException"), hook.CodeInternal, "the thing refused the request"},
		{"a request that is not valid", answered(http.StatusBadRequest, "ValidationException"), hook.CodeInternal, "the thing refused the request"},
		{"anything else", errors.New("a bug"), hook.CodeInternal, "the thing refused the request"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := awserr.Of(t.Context(), tt.err, "the thing")
			e, ok := errors.AsType[*hook.Error](got)
			if !ok || e.Code != tt.want || e.Message != tt.message || !errors.Is(got, tt.err) {
				t.Errorf("Of(%v) = %v (%s); want %s, %q, about it", tt.err, got, hook.CodeOf(got), tt.want, tt.message)
			}
			if got, want := awserr.Retryable(tt.err), tt.want == hook.CodeUnavailable; got != want {
				t.Errorf("Retryable(%v) = %t; want %t", tt.err, got, want)
			}
		})
	}
}

func TestOf_AnEndedContextOutweighsWhatCameOfIt(t *testing.T) {
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
