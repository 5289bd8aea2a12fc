"""Settings of gunicorn for `wsgi_app`: loaded once, forked into workers, a producer for each worker."""

preload_app = True
workers = 2


def post_fork(server: object, worker: object) -> None:
    from wsgi_app import begin  # which the master has loaded

    begin()


def worker_exit(server: object, worker: object) -> None:
    from wsgi_app import end

    end()
