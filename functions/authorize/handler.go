package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"surehook/internal/aws/apigateway"
	"surehook/internal/hook"
	"surehook/internal/names"
)

// identifier tells who an Authorization header speaks for.
type identifier interface {
	Identify(ctx context.Context, header string) (hook.Principal, error)
}

type handler struct {
	authenticator identifier
	log           *slog.Logger
}

// Handle answers API Gateway. It lets a request with an unknown key through
// without saying who calls, and the function behind refuses it: only so can
// the caller be told why, in the API's own error format (docs/adr/0005).
func (h *handler) Handle(ctx context.Context, e events.APIGatewayV2CustomAuthorizerV2Request) (events.APIGatewayV2CustomAuthorizerSimpleResponse, error) {
	header := strings.Join(e.IdentitySource, ",") // there is one; were there two, they must not pass for the first
	response := events.APIGatewayV2CustomAuthorizerSimpleResponse{IsAuthorized: true}
	principal, err := h.authenticator.Identify(ctx, header)
	switch {
	case err == nil:
		response.Context = apigateway.Authorizer(principal)
	case hook.CodeOf(err) != hook.CodeUnauthorized:
		h.log.ErrorContext(ctx, "caller.identify_failed", slog.Any(names.LogError, err))
		return events.APIGatewayV2CustomAuthorizerSimpleResponse{}, fmt.Errorf("identify caller: %w", err)
	}
	return response, nil
}
