package emulator

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// packageVenv is the folder of LocalStack's virtual environment of Python 3.13.
const packageVenv = "localstack/python313/.venv"

// packageTimeout bounds the wait for the first answer. The first start compiles
// hundreds of Python modules.
const packageTimeout = 2 * time.Minute

// startLocalStackPackage runs LocalStack without a container. LocalStack listens on
// all interfaces for any GATEWAY_LISTEN, so the caller's network namespace must have
// loopback alone.
func (e *Emulator) startLocalStackPackage(ctx context.Context) error {
	if err := onLoopbackOnly(); err != nil {
		return err
	}
	python := filepath.Join(e.opts.Root, filepath.FromSlash(packageVenv), "bin", "python")
	if _, err := os.Stat(python); err != nil {
		return fmt.Errorf("%s is %w: run `make test/localstack`, which needs Python 3.13", python, ErrNotInstalled)
	}
	// LocalStack writes to /var/lib/localstack in a container, and below its package
	// elsewhere. A folder per run replaces both.
	volume := filepath.Join(e.Dir, string(e.Kind)+".volume")
	tmp := filepath.Join(volume, "tmp")
	if err := errors.Join(os.RemoveAll(volume), os.MkdirAll(tmp, 0o750)); err != nil {
		return fmt.Errorf("make the volume's folder: %w", err)
	}
	env := append(e.serverEnv(),
		"GATEWAY_LISTEN=127.0.0.1:"+strconv.Itoa(e.Port),
		"OVERRIDE_IN_DOCKER=0", "FILESYSTEM_ROOT="+volume, "TMPDIR="+tmp, "HOME="+volume,
		"SKIP_SSL_CERT_DOWNLOAD=1", "DISABLE_EVENTS=1", "EAGER_SERVICE_LOADING=0", "DNS_ADDRESS=0",
		"PYTHONUNBUFFERED=1",
	)
	p, err := startProcess(e.LogPath, env, python, "-m", "localstack.runtime.main")
	if err != nil {
		return err
	}
	e.stop = func() error { return errors.Join(p.stop(), os.RemoveAll(volume)) }
	return p.await(ctx, e.URL+"/_localstack/health", packageTimeout)
}

// onLoopbackOnly returns an error with the first interface other than loopback.
func onLoopbackOnly() error {
	interfaces, err := net.Interfaces()
	if err != nil {
		return fmt.Errorf("list the network interfaces: %w", err)
	}
	for _, i := range interfaces {
		if i.Flags&net.FlagUp != 0 && i.Flags&net.FlagLoopback == 0 {
			return fmt.Errorf("LocalStack would listen on the interface %s too: run `make test/localstack`, "+
				"which uses a network namespace with loopback alone", i.Name)
		}
	}
	return nil
}
