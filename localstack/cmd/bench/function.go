package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/aws/aws-lambda-go/events"

	"surehook.example/surehook/internal/aws/apigateway"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/localstack/cmd/bench/usage"
)

// observer is the file that bench adds to a measured function. File 3 is the pipe of the answers.
const observer = `package main

import (
	"os"

	"surehook.example/surehook/localstack/cmd/bench/usage"
)

func init() {
	go func() {
		if err := usage.Answer(os.Stdin, os.NewFile(3, "answers")); err != nil {
			panic(err)
		}
		os.Exit(0)
	}()
}
`

// function is a running function under measurement.
type function struct {
	*runtimeAPI

	command *exec.Cmd
	ask     io.WriteCloser
	answers *json.Decoder
}

// startFunction builds the function with the observer in the folder, and starts it. The caller must
// call stop.
func startFunction(ctx context.Context, folder, name string, env []string) (*function, error) {
	source, overlay, file := filepath.Join(folder, "observer.go"), filepath.Join(folder, name+".json"), filepath.Join(folder, name)
	working, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the repository: %w", err)
	}
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(working, "functions", name, "observer.go"): source}})
	if err != nil {
		return nil, fmt.Errorf("write an overlay: %w", err)
	}
	if err := errors.Join(os.WriteFile(source, []byte(observer), 0o600), os.WriteFile(overlay, replaced, 0o600)); err != nil {
		return nil, fmt.Errorf("write an overlay: %w", err)
	}
	if err := build(ctx, file, "./functions/"+name, "-trimpath", "-tags", "lambda.norpc", "-overlay", overlay); err != nil {
		return nil, err
	}
	f := &function{command: exec.CommandContext(ctx, file)}
	if f.runtimeAPI, err = startRuntime(ctx); err != nil {
		return nil, err
	}
	f.command.Env = append(functionEnvironment(f.address), env...)
	if profile := os.Getenv("CPUPROFILE"); profile != "" {
		f.command.Env = append(f.command.Env, usage.EnvProfile+"="+profile+"."+name)
	}
	if f.ask, err = f.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start function %s: %w", name, err)
	}
	out, answers, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start function %s: %w", name, err)
	}
	f.command.ExtraFiles, f.command.Stderr = []*os.File{answers}, os.Stderr
	f.answers = json.NewDecoder(out)
	err = f.command.Start()
	if err = errors.Join(err, answers.Close()); err != nil {
		return nil, fmt.Errorf("start function %s: %w", name, err)
	}
	return f, nil
}

// used asks the function for its usage since its start.
func (f *function) used() (u usage.Usage, err error) {
	if _, err = io.WriteString(f.ask, "\n"); err == nil {
		err = f.answers.Decode(&u)
	}
	if err != nil {
		return usage.Usage{}, fmt.Errorf("ask the function for its usage: %w", err)
	}
	return u, nil
}

// stop ends the function, which then writes its profile, and the runtime API.
func (f *function) stop() error {
	err := errors.Join(f.ask.Close(), f.command.Wait(), f.server.Close())
	if err != nil {
		return fmt.Errorf("stop the function: %w", err)
	}
	return nil
}

// request invokes the function with a POST as API Gateway would, and expects the status.
func (f *function) request(ctx context.Context, tenant, path, body string, status int) error {
	e := events.APIGatewayV2HTTPRequest{
		Version: "2.0", RouteKey: "$default", RawPath: "/v1/tenants/" + tenant + path,
		Headers: map[string]string{
			"accept": "*/*", "accept-encoding": "gzip", "authorization": "Bearer whk_0123456789abcdefghijklmnopqrstuvwxyz", "content-length": strconv.Itoa(len(body)),
			"content-type": "application/json", "host": "a1b2c3d4e5.execute-api.us-east-1.amazonaws.com", "user-agent": "shop/1.0",
			"x-amzn-trace-id": "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700", "x-forwarded-for": "198.51.100.7", "x-forwarded-port": "443", "x-forwarded-proto": "https",
		},
		RequestContext: events.APIGatewayV2HTTPRequestContext{
			RouteKey: "$default", AccountID: "123456789012", Stage: "$default", RequestID: "JKJaXmPLvHcESHA=", APIID: "a1b2c3d4e5",
			Authorizer: &events.APIGatewayV2HTTPRequestContextAuthorizerDescription{Lambda: apigateway.Authorizer(hook.Principal{
				Key: "key_01h455vb4pex5vsknk084sn02q", Name: "shop", Tenant: hook.TenantID(tenant), Scopes: []hook.Scope{hook.ScopeAdmin},
			})},
			HTTP: events.APIGatewayV2HTTPRequestContextHTTPDescription{Method: http.MethodPost, Path: "/v1/tenants/" + tenant + path, Protocol: "HTTP/1.1", SourceIP: "198.51.100.7", UserAgent: "shop/1.0"},
		},
		Body: body,
	}
	event, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	response, err := f.invoke(ctx, event)
	if err != nil {
		return err
	}
	var answer events.APIGatewayV2HTTPResponse
	if err := json.Unmarshal(response, &answer); err != nil || answer.StatusCode != status {
		return fmt.Errorf("POST %s: %s", e.RawPath, response)
	}
	return nil
}
