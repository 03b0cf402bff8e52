package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"surehook.example/surehook/localstack/stack"
)

// The environment variables with the programs of the peers.
const (
	envOutpost = "PEER_OUTPOST" // a folder with outpost and outpost-server
	envSvix    = "PEER_SVIX"    // the file svix-server
)

// startOurs starts `surehook dev`.
func startOurs(ctx context.Context, folder string) (*peer, error) {
	program := filepath.Join(folder, "surehook")
	if err := build(ctx, program, "./cmd/surehook", "-trimpath", "-ldflags", "-s -w"); err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	const key = "shk_0123456789012345678901234567890123456789012" // for this run alone
	p := &peer{name: "`surehook dev`, in memory"}
	started, err := startProcess(ctx, folder, "", []string{"SUREHOOK_API_KEY=" + key}, program, "dev", "--port", port)
	if err != nil {
		return nil, err
	}
	p.own = append(p.own, started)
	api := &stack.Client{HTTP: client(), Address: "http://127.0.0.1:" + port, Key: key}
	p.endpoint = func(ctx context.Context, tenant, url string) error {
		_, err := api.CreateEndpoint(ctx, tenant, map[string]any{"url": url, "event_types": []string{"*"}})
		return err
	}
	p.post = func(ctx context.Context, tenant, payload string) error {
		_, err := api.PostEvent(ctx, tenant, "order.paid", payload)
		return err
	}
	return p, started.serves(ctx, port)
}

// startOutpost starts Outpost with Postgres, Redis and RabbitMQ: at most 100 deliveries at once, where its default is one.
func startOutpost(ctx context.Context, folder string) (*peer, error) {
	programs := os.Getenv(envOutpost)
	if programs == "" {
		return nil, fmt.Errorf("%s names no folder with outpost and outpost-server: the server %w", envOutpost, errAbsent)
	}
	p := &peer{name: "Outpost"}
	postgres, err := p.postgres(ctx, folder, "outpost")
	if err != nil {
		return p, err
	}
	redis, err := p.redis(ctx, folder)
	if err != nil {
		return p, err
	}
	rabbit, err := p.rabbit(ctx, folder)
	if err != nil {
		return p, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return p, err
	}
	const key = "key"
	env := []string{
		"SERVICE=", "API_PORT=" + port, "PORT=" + port, "API_KEY=" + key, "API_JWT_SECRET=secret", "AES_ENCRYPTION_SECRET=0123456789abcdef0123456789abcdef",
		"TOPICS=order.paid", "POSTGRES_URL=" + postgres, "REDIS_HOST=127.0.0.1", "REDIS_PORT=" + redis, "REDIS_PASSWORD=", "REDIS_DATABASE=0", "RABBITMQ_SERVER_URL=" + rabbit,
		"PUBLISH_MAX_CONCURRENCY=100", "DELIVERY_MAX_CONCURRENCY=100", "LOG_MAX_CONCURRENCY=100", "LOG_BATCH_THRESHOLD_SECONDS=1",
		"DELIVERY_TIMEOUT_SECONDS=30", "DISABLE_TELEMETRY=true", "GIN_MODE=release", "LOG_LEVEL=warn", "ALERT_CONSECUTIVE_FAILURE_COUNT=",
	}
	migrate := exec.CommandContext(ctx, filepath.Join(programs, "outpost"), "migrate", "apply", "--yes")
	migrate.Dir, migrate.Env = folder, append(os.Environ(), env...)
	if out, err := migrate.CombinedOutput(); err != nil {
		return p, fmt.Errorf("prepare the databases of Outpost: %w: %s", err, out)
	}
	started, err := startProcess(ctx, folder, "", env, filepath.Join(programs, "outpost-server"))
	if err != nil {
		return p, err
	}
	p.own = append(p.own, started)
	api := caller{address: "http://127.0.0.1:" + port + "/api/v1", key: key, http: client()}
	p.endpoint = func(ctx context.Context, tenant, url string) error {
		if err := api.call(ctx, http.MethodPut, "/tenants/"+tenant, map[string]any{}); err != nil {
			return err
		}
		return api.call(ctx, http.MethodPost, "/tenants/"+tenant+"/destinations", map[string]any{"type": "webhook", "topics": []string{"*"}, "config": map[string]string{"url": url}})
	}
	p.post = func(ctx context.Context, tenant, payload string) error {
		return api.call(ctx, http.MethodPost, "/publish", map[string]any{"tenant_id": tenant, "topic": "order.paid", "data": json.RawMessage(payload)})
	}
	return p, started.serves(ctx, port)
}

// startSvix starts Svix with Postgres and Redis.
func startSvix(ctx context.Context, folder string) (*peer, error) {
	program := os.Getenv(envSvix)
	if program == "" {
		return nil, fmt.Errorf("%s names no file svix-server: the server %w", envSvix, errAbsent)
	}
	p := &peer{name: "Svix"}
	postgres, err := p.postgres(ctx, folder, "svix")
	if err != nil {
		return p, err
	}
	redis, err := p.redis(ctx, folder)
	if err != nil {
		return p, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return p, err
	}
	env := []string{
		"SVIX_LISTEN_ADDRESS=127.0.0.1:" + port, "SVIX_DB_DSN=" + postgres, "SVIX_REDIS_DSN=redis://127.0.0.1:" + redis, "SVIX_QUEUE_TYPE=redis", "SVIX_CACHE_TYPE=memory",
		"SVIX_JWT_SECRET=secret", "SVIX_MAIN_SECRET=secret-secret-secret-secret-secr", "SVIX_LOG_LEVEL=info", `SVIX_WHITELIST_SUBNETS=[127.0.0.1/32]`,
	}
	token := exec.CommandContext(ctx, program, "jwt", "generate")
	token.Dir, token.Env = folder, append(os.Environ(), env...)
	out, err := token.Output()
	if err != nil {
		return p, fmt.Errorf("ask Svix for a token: %w", err)
	}
	started, err := startProcess(ctx, folder, "", env, program, "--run-migrations")
	if err != nil {
		return p, err
	}
	p.own = append(p.own, started)
	_, key, _ := strings.Cut(strings.TrimSpace(string(out)), "): ")
	api := caller{address: "http://127.0.0.1:" + port + "/api/v1", key: key, http: client()}
	p.endpoint = func(ctx context.Context, tenant, url string) error {
		if err := api.call(ctx, http.MethodPost, "/app/", map[string]any{"name": tenant, "uid": tenant}); err != nil {
			return err
		}
		return api.call(ctx, http.MethodPost, "/app/"+tenant+"/endpoint/", map[string]any{"url": url})
	}
	p.post = func(ctx context.Context, tenant, payload string) error {
		return api.call(ctx, http.MethodPost, "/app/"+tenant+"/msg/", map[string]any{"eventType": "order.paid", "payload": json.RawMessage(payload)})
	}
	return p, started.serves(ctx, port)
}

// postgres starts a server with its defaults, and returns the address of a database.
func (p *peer) postgres(ctx context.Context, folder, name string) (string, error) {
	initdb, err := program("initdb")
	if err != nil {
		return "", err
	}
	server, err := program("postgres")
	if err != nil {
		return "", err
	}
	data := filepath.Join(folder, name+"-postgres")
	create := exec.CommandContext(ctx, initdb, "--pgdata", data, "--username", "postgres", "--auth", "trust", "--encoding", "UTF8")
	if os.Geteuid() == 0 { // Postgres refuses root
		if err := os.Mkdir(data, 0o700); err != nil {
			return "", fmt.Errorf("make a folder: %w", err)
		}
		create = exec.CommandContext(ctx, "setpriv", append([]string{"--reuid", "postgres", "--regid", "postgres", "--clear-groups", "--"}, create.Args...)...)
		id, err := credential("postgres")
		if err == nil {
			err = os.Chown(data, int(id.Uid), int(id.Gid))
		}
		if err != nil {
			return "", fmt.Errorf("give the folder away: %w", err)
		}
	}
	create.Dir = "/"
	if out, err := create.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make a database: %w: %s", err, out)
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	started, err := startProcess(ctx, folder, "postgres", nil, server, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="+data, "-c", "max_connections=300")
	if err != nil {
		return "", err
	}
	p.databases = append(p.databases, started)
	return "postgres://postgres@127.0.0.1:" + port + "/postgres?sslmode=disable", started.serves(ctx, port)
}

// redis starts a server that writes its log each second, and returns its port.
func (p *peer) redis(ctx context.Context, folder string) (string, error) {
	server, err := program("redis-server")
	if err != nil {
		return "", err
	}
	port, err := freePort(ctx)
	if err != nil {
		return "", err
	}
	started, err := startProcess(ctx, folder, "", nil, server, "--port", port, "--bind", "127.0.0.1", "--appendonly", "yes", "--appenddirname", "redis-"+port, "--dbfilename", port+".rdb")
	if err != nil {
		return "", err
	}
	p.databases = append(p.databases, started)
	return port, started.serves(ctx, port)
}

// rabbit starts RabbitMQ, on loopback alone, and returns its address.
func (p *peer) rabbit(ctx context.Context, folder string) (string, error) {
	server, err := program("rabbitmq-server")
	if err != nil {
		return "", err
	}
	if script := "/usr/lib/rabbitmq/bin/rabbitmq-server"; installed(script) { // what is in PATH becomes another user
		server = script
	}
	var ports [3]string
	for i := range ports {
		if ports[i], err = freePort(ctx); err != nil {
			return "", err
		}
	}
	env := []string{
		"HOME=" + folder, "RABBITMQ_NODENAME=peer@localhost", "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1", "RABBITMQ_NODE_PORT=" + ports[0], "RABBITMQ_DIST_PORT=" + ports[1],
		"ERL_EPMD_ADDRESS=127.0.0.1", "ERL_EPMD_PORT=" + ports[2], "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-kernel inet_dist_use_interface {127,0,0,1}",
		"RABBITMQ_MNESIA_BASE=" + filepath.Join(folder, "rabbit"), "RABBITMQ_LOG_BASE=" + filepath.Join(folder, "rabbit-log"), "RABBITMQ_ENABLED_PLUGINS_FILE=" + filepath.Join(folder, "plugins"),
		"RABBITMQ_CONF_ENV_FILE=" + filepath.Join(folder, "none"),
	}
	started, err := startProcess(ctx, folder, "", env, server)
	if err != nil {
		return "", err
	}
	p.databases = append(p.databases, started)
	return "amqp://guest:guest@127.0.0.1:" + ports[0], started.serves(ctx, ports[0])
}

func freePort(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a port: %w", err)
	}
	defer l.Close() //nolint:errcheck // another takes it
	address, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return "", errors.New("find a port: no TCP")
	}
	return strconv.Itoa(address.Port), nil
}

func client() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4 * peerConnections}}
}

// caller calls the API of a peer.
type caller struct {
	address, key string
	http         *http.Client
}

// call makes a request, which must succeed.
func (c caller) call(ctx context.Context, method, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.address+path, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read to its end
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s %s %w", method, path, resp.Status, answer, err)
	}
	return nil
}

func installed(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
