package emulator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// startMiniStack runs MiniStack. MiniStack runs each function as a warm child
// process with the Lambda Runtime API.
func (e *Emulator) startMiniStack(ctx context.Context) error {
	python, err := e.tool("python")
	if err != nil {
		return err
	}
	// MiniStack keeps unpacked functions and a pid file in TMPDIR, named by
	// port only. A folder per run is clean at the start and disposable at the
	// end.
	tmp := filepath.Join(e.Dir, string(e.Kind)+".tmp")
	if err := errors.Join(os.RemoveAll(tmp), os.Mkdir(tmp, 0o750)); err != nil {
		return fmt.Errorf("make the temporary folder: %w", err)
	}
	env := e.serverEnv(
		"BIND_HOST=127.0.0.1", // the default is every interface
		"GATEWAY_PORT="+strconv.Itoa(e.Port),
		"TMPDIR="+tmp,
		// Functions inherit this variable. MiniStack sets no endpoint itself.
		"AWS_ENDPOINT_URL="+e.URL,
		// Functions inherit this variable, too. Lambda sets the variable for
		// functions with JSON logs, as all of Surehook's are. MiniStack ignores
		// a function's LoggingConfig.
		"AWS_LAMBDA_LOG_FORMAT=JSON",
		// Unused listeners on fixed ports.
		"SFTP_ENABLED=0", "IOT_MTLS_ENABLED=0",
		// At its start and end, MiniStack removes the containers of every
		// MiniStack on the machine. A missing socket keeps MiniStack away from
		// Docker.
		"DOCKER_HOST=unix://"+filepath.Join(tmp, "none.sock"),
		"PYTHONUNBUFFERED=1",
	)
	if e.Front != nil {
		// MiniStack evaluates the policies of each function's role, and those of
		// queues, topics and keys. Some deny requests without TLS: only the front
		// says that requests came over TLS.
		env = append(env, "AUTH=true")
	}
	p, err := startProcess(e.LogPath, env, python, "-m", "ministack.app")
	if err != nil {
		return err
	}
	e.pid = p.cmd.Process.Pid
	e.stop = func() error { return errors.Join(p.stop(), os.RemoveAll(tmp)) }
	return p.await(ctx, e.URL+"/_ministack/health", startTimeout)
}

// motoServer runs Moto's server. Moto parses and copies update expressions recursively, and
// one with many clauses is deeper than Python's limit of 1,000 calls.
const motoServer = "import sys; sys.setrecursionlimit(10_000); from moto.server import main; main(sys.argv[1:])"

// startMoto runs Moto's server.
func (e *Emulator) startMoto(ctx context.Context) error {
	python, err := e.tool("python")
	if err != nil {
		return err
	}
	if _, err := e.tool("moto_server"); err != nil {
		return err
	}
	p, err := startProcess(e.LogPath, e.serverEnv("PYTHONUNBUFFERED=1"), python, "-c", motoServer, "-H", "127.0.0.1", "-p", strconv.Itoa(e.Port))
	if err != nil {
		return err
	}
	e.stop = p.stop
	return p.await(ctx, e.URL+"/moto-api/data.json", startTimeout)
}

// tool returns the path of a program of the virtual environment.
func (e *Emulator) tool(name string) (string, error) {
	path := filepath.Join(e.opts.Root, ".venv", "bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is %w: run `make local`, which needs Python 3.10 or newer with its venv module", path, ErrNotInstalled)
	}
	return path, nil
}
