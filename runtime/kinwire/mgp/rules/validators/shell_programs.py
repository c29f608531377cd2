"""What the sandbox knows about programs: classes that are refused, and options that are.

The classes follow what programs can do when their arguments are chosen by somebody else; the
project GTFOBins lists such programs. A program that is not here runs, if the rules in
`shell_commands.py` that hold for all programs find nothing.
"""

from __future__ import annotations

__all__ = (
    "HARMLESS",
    "ONLY_LISTS",
    "OPTIONS",
    "READING_SUBCOMMANDS",
    "REFUSED",
    "RUNNERS",
    "SHELLS",
    "STARTS_OTHERS",
    "VERSION_BY_V",
    "WITHOUT_ARGUMENTS",
    "WRAPPERS",
    "WRITERS",
)

from typing import Final

from kinwire.mgp.rules.validators.shell_options import Options
from kinwire.mgp.rules.word_set import word_set

SHELLS: Final = word_set(
    """
    sh bash dash ash zsh ksh ksh93 mksh pdksh csh tcsh fish rbash rksh elvish xonsh nu osh ysh
    yash posh sash cmd command.com powershell pwsh wsl
    """
)

RUNNERS: Final = word_set(
    """
    python ipython bpython pypy pythonw pdb py perl ruby irb pry php node nodejs deno bun
    ts-node tsx lua luajit tclsh wish tkcon expect guile racket scheme sbcl clisp ecl gforth
    octave matlab r rscript julia ghc ghci runghc runhaskell scala kotlin groovy jshell java
    jrunscript jjs erl elixir iex escript swift mono osascript cscript wscript mshta gdb lldb m4
    gnuplot maxima gp ginsh slsh jimsh newlisp qjs d8 coffee bpftrace dtrace stap scanmem crash
    dc byebug easy_install rake cpan cpanm msfconsole volatility fsi csi genie jruby mruby
    micropython jython nim crystal dart hhvm clj clojure bb rexx phantomjs electron chez petite
    rdmd cling php-cgi picolisp
    """
)

_CLASSES: Final[dict[str, str]] = {
    "raises or changes privileges": """
        sudo sudoedit su doas pkexec runuser gksu gksudo kdesu kdesudo sg newgrp login ksu calife
        super please run0 machinectl setcap capsh setpriv chroot nsenter unshare systemd-run
        systemd-nspawn bwrap firejail setfacl chattr setfattr runas takeown icacls""",
    "changes users or the machine's configuration": """
        useradd userdel usermod groupadd groupdel groupmod adduser deluser addgroup delgroup passwd
        chpasswd chsh chfn chage gpasswd vipw vigr visudo iptables ip6tables nft ufw firewall-cmd
        ipset setenforce semanage auditctl hostnamectl timedatectl localectl update-grub
        grub-install efibootmgr dpkg-reconfigure update-alternatives ldconfig depmod launchctl
        defaults reg regedit netsh bcdedit sc net wmic dbus-send gdbus busctl loginctl""",
    "stops or restarts the machine, or its services": """
        supervisorctl pm2 monit shutdown reboot halt poweroff init telinit service rc-service
        initctl kexec insmod rmmod modprobe sv rc-update""",
    "kills processes by name": "pkill killall killall5 skill slay xkill taskkill tskill",
    "changes disks, or destroys what is on them": """
        mount umount swapon swapoff losetup cryptsetup dmsetup lvm lvremove lvcreate vgremove
        pvremove pvcreate mdadm fdisk sfdisk cfdisk gdisk sgdisk parted partprobe mkfs mke2fs
        mkswap mkntfs mkdosfs wipefs blkdiscard hdparm nvme fsck e2fsck tune2fs resize2fs debugfs
        zpool zfs btrfs shred srm wipe scrub badblocks format diskpart diskutil vssadmin cipher
        sg_format mkisofs ddrescue""",
    "schedules programs or leaves them running": """
        crontab at batch atd anacron fcrontab schtasks screen tmux tmate dtach abduco byobu zellij
        nohup.exe daemon daemonize start-stop-daemon""",
    "starts other programs": """
        parallel sem entr watch script flock strace ltrace valgrind perf rlwrap unbuffer proxychains
        proxychains4 torsocks torify tsocks faketime fakeroot fakechroot run-parts run-mailcap
        xdg-open open start see gio exo-open gvfs-open kde-open explorer dbus-launch
        dbus-run-session ssh-agent sshpass cpulimit xvfb-run gnome-terminal xterm konsole urxvt
        alacritty kitty terminator x-terminal-emulator multitime hyperfine logsave setarch linux32
        linux64 softlimit setlock chpst envdir setuidgid choom openvt pexec cgexec prlimit
        gtester grc aa-exec watchexec nodemon reflex inotifywait-run
        rundll32 regsvr32 msiexec
        start-process invoke-expression iex invoke-command forfiles ld.so xdotool autoexpect tsp ts
        yes distcc chronic ifne pee mispipe vidir vipe zrun wine wine64 proot lxc lxd
        ctr crictl multipass virsh docker-compose podman-compose logrotate mail mailx
        mutt msgfilter""",
    "is an editor or a terminal program that can start others": """
        vi vim nvim gvim view rvim rview vimdiff ex ed red emacs emacsclient xemacs nano pico joe
        jed micro mcedit mc kak hx helix ne jmacs vifm ranger nnn lf links elinks lynx w3m
        tasksh cdist ispell elvis vile nvi mg zile levee tilde slap""",
    "opens a connection that programs can be controlled through": """
        nc ncat netcat socat telnet ftp lftp tftp ncftp rlogin rsh rexec rcp ssh sftp sshfs
        ssh-copy-id autossh mosh cryptcat pwncat chisel ngrok cloudflared msfvenom openvpn
        smbclient psftp plink certutil bitsadmin invoke-webrequest iwr minicom cu""",
    "runs code of other people, or changes what is installed": """
        npx uvx bunx pipx aptitude yay paru port emerge guix nix nix-shell nix-env nix-build
        mvn gradle gradlew ant sbt lein make gmake ninja scons bazel meson tox nox pytest
        unittest invoke fab just mage mix rebar3 stack cabal opam luarocks composer bundle bundler
        rustup dotnet nuget ansible ansible-playbook puppet chef knife salt vagrant packer pulumi
        serverless snapcraft act pre-commit""",
    "changes how the shell reads later commands, or runs its arguments as code": """
        eval exec source . trap alias unalias declare typeset local set shopt enable bind complete
        compopt fc mapfile readarray let coproc readonly unset hash suspend export bg fg disown
        autoload zmodload emulate setenv""",
    "deletes many files": "rmtree rimraf trash-empty deltree del erase rd remove-item ri",
    "is a word of the shell's language": """
        if then else elif fi for while until do done case esac select function in { } ! [[ ]] time!
        """,
}

REFUSED: Final[dict[str, str]] = {
    name: reason for reason, names in _CLASSES.items() for name in names.split()
}

WITHOUT_ARGUMENTS: Final = word_set("mount alias export set hash declare typeset bind enable")
"""Those that only print where they have no arguments."""

ONLY_LISTS: Final[dict[str, frozenset[str]]] = {
    "crontab": frozenset({"-l"}),
    "sudo": frozenset({"-l"}),
    "tmux": frozenset({"ls", "list-sessions"}),
    "screen": frozenset({"-ls"}),
    "fdisk": frozenset({"-l"}),
    "timedatectl": frozenset({"status"}),
    "hostnamectl": frozenset({"status"}),
    "ufw": frozenset({"status"}),
    "service": frozenset({"--status-all"}),
    "swapon": frozenset({"--show", "-s"}),
    "losetup": frozenset({"-a", "-l"}),
}
"""The only argument with which these may run."""

VERSION_BY_V: Final = word_set(
    """
    node nodejs npm perl php ruby lua tsc yarn pnpm docker
    """
)
"""Those that print their version for `-v`, and do nothing else."""

WRAPPERS: Final[dict[str, tuple[str, int, str]]] = {
    "env": ("uC", 0, "S"),
    "nice": ("n", 0, ""),
    "ionice": ("cn", 0, "p"),
    "timeout": ("ks", 1, ""),
    "time": ("f", 0, "o"),
    "command": ("", 0, ""),
    "builtin": ("", 0, ""),
    "nohup": ("", 0, ""),
    "setsid": ("", 0, ""),
    "stdbuf": ("ioe", 0, ""),
    "chrt": ("TPD", 1, "p"),
    "taskset": ("", 1, "p"),
    "numactl": ("NmCipl", 0, ""),
    "xargs": ("aEILnPsd", 0, ""),
    "busybox": ("", 0, ""),
    "toybox": ("", 0, ""),
    "eatmydata": ("", 0, ""),
    "caffeinate": ("tw", 0, ""),
    "noglob": ("", 0, ""),
    "nocorrect": ("", 0, ""),
    "catchsegv": ("", 0, ""),
}
"""What runs the rest of its arguments: options with a value, operands in front, refused options."""

READING_SUBCOMMANDS: Final[dict[str, frozenset[str]]] = {
    name: word_set(words)
    for name, words in {
        "apt": "list search show policy",
        "apt-get": "check",
        "dnf": "list search info repolist provides",
        "yum": "list search info repolist provides",
        "zypper": "search info",
        "apk": "info search list",
        "pkg": "info search",
        "brew": "list info search deps uses outdated leaves",
        "snap": "list find info",
        "flatpak": "list info search",
        "pip": "list show freeze check help",
        "uv": "version help",
        "poetry": "show check version",
        "pdm": "list show",
        "hatch": "version",
        "conda": "list info search",
        "mamba": "list info search",
        "npm": "ls list view info show outdated search root prefix ping whoami explain help",
        "pnpm": "ls list why outdated",
        "yarn": "list info why",
        "gem": "list search info which",
        "cargo": "tree metadata search help locate-project pkgid version",
        "go": "version list doc help env",
        "docker": "ps images version info logs inspect top stats port diff history search events",
        "podman": "ps images version info logs inspect top stats port diff history search events",
        "nerdctl": "ps images version info logs inspect top stats port",
        "kubectl": "get describe logs version explain api-resources api-versions top cluster-info",
        "oc": "get describe logs version explain",
        "helm": "list status history search version",
        "terraform": "version output show providers",
        "cmake": "",
        "systemctl": "status show cat is-active is-enabled is-failed list-units list-unit-files "
        "list-timers list-sockets list-dependencies",
    }.items()
}
"""What may run of programs whose other subcommands run code, or change what is installed."""

OPTIONS: Final[dict[str, Options]] = {
    "rm": Options("rR", ("recursive", "no-preserve-root")),
    "chown": Options("R", ("recursive",)),
    "chgrp": Options("R", ("recursive",)),
    "tar": Options(
        "IFPT",
        (
            *("use-compress-program", "to-command", "checkpoint-action", "info-script"),
            *("new-volume-script", "rsh-command", "rmt-command", "files-from", "remove-files"),
            *("absolute-names", "recursive-unlink"),
        ),
        valued="fCbgKLNVXH",
        harmless=("checkpoint",),
    ),
    "zip": Options("T", ("unzip-command",)),
    "unzip": Options(":K"),
    "rsync": Options(
        "eM",
        (
            *("rsh", "rsync-path", "remote-option", "daemon", "config", "remove-source-files"),
            *("delete", "delete-before", "delete-during", "delete-after", "delete-excluded"),
        ),
        valued="fBT",
    ),
    "scp": Options("SoFDJ", valued="ciPlX"),
    "sort": Options("", ("compress-program",), valued="kotTS"),
    "split": Options("", ("filter",), valued="abClnt"),
    "man": Options("PHCBlp", ("pager", "html", "config-file", "local-file", "preprocessor")),
    "less": Options("koO", ("lesskey-file", "lesskey-src", "lesskey-content", "log-file")),
    "fd": Options("xX", ("exec", "exec-batch"), valued="edEctSoj"),
    "rg": Options("", ("pre", "hostname-bin")),
    "gcc": Options(
        dashed=("wrapper", "specs"),
        prefixes=("-B", "-run", "-fplugin", "-specs", "--specs", "@", "-iplugin"),
    ),
    "openssl": Options(
        dashed=("engine", "provider", "provider-path", "config"), prefixes=("s_server", "-engine")
    ),
    "exiftool": Options(prefixes=("-if", "-config", "-execute", "-api", "-p", "-userparam")),
    "cowsay": Options("f"),
    "pandoc": Options("FLd", ("filter", "lua-filter", "pdf-engine", "defaults"), valued="frwtoVM"),
    "latex": Options(
        "",
        ("shell-escape", "enable-write18"),
        dashed=("shell-escape",),
        prefixes=("\\", "-sh", "-en"),
    ),
    "nmap": Options("", ("script", "interactive", "datadir", "resume", "servicedb")),
    "tcpdump": Options("zwZF", valued="icsBEGCmMTyr"),
    "tshark": Options("Xw", valued="ifRYcrTeo"),
    "pidstat": Options("e"),
    "ip": Options(dashed=("b", "batch")),
    "date": Options("s", ("set",), valued="dfr"),
    "fuser": Options("k", ("kill",)),
    "sysctl": Options("wp", ("write", "load", "system")),
    "hg": Options("", ("config", "config-file", "debugger", "cwd")),
    "svn": Options("", ("config-option", "config-dir", "editor-cmd", "diff-cmd", "diff3-cmd")),
    "nroff": Options("P"),
    "sqlmap": Options("", ("eval", "os-shell", "os-cmd", "sql-shell", "file-write")),
    "ssh-keygen": Options("D", valued="fbtCNPYnOIV"),
    "ssh-keyscan": Options("f"),
    "kubectl": Options("", ("kubeconfig", "server", "token")),
    "docker": Options("Hc", ("host", "config", "context")),
    "go": Options(
        dashed=("exec", "toolexec", "vettool", "modfile", "overlay"), prefixes=("-C", "-w", "-u")
    ),
    "aria2c": Options("i", ("input-file", "conf-path", "on-download-complete", "save-session")),
    "mosquitto": Options("c"),
    "netstat": Options(harmless=("program", "programs")),
    "ag": Options("", ("pager",)),
    "ack": Options("", ("pager",)),
    "rpm": Options("iUFe", ("install", "upgrade", "freshen", "erase", "import", "define", "load")),
    "dpkg": Options("irPX", ("install", "remove", "purge", "unpack", "configure", "extract")),
    "pacman": Options("SURD", ("sync", "upgrade", "remove", "database", "config", "hookdir")),
    "wget": Options(
        "ie",
        (
            *("execute", "config", "use-askpass", "post-file", "body-file", "input-file"),
            *("load-cookies", "private-key", "ca-directory", "proxy-user", "rejected-log"),
        ),
        valued="oaOPtTwQUBADRIXl",
    ),
    "curl": Options(
        "KTnxJ",
        (
            *(
                "config",
                "upload-file",
                "netrc",
                "netrc-file",
                "netrc-optional",
                "proxy",
                "preproxy",
            ),
            *("engine", "unix-socket", "abstract-unix-socket", "libcurl"),
            *("remote-header-name", "socks5", "socks5-hostname", "socks4", "socks4a", "etag-save"),
            *("proto-default", "trace", "trace-ascii", "stderr"),
        ),
        valued="dFoHAbcDeumrtwXYyzCPQ",
    ),
}
"""Options that a program's rule refuses; aliases are in `shell_commands.py`."""

WRITERS: Final = word_set(
    """
    cp mv ln tee touch mkdir rmdir rm install truncate dd patch tar unzip gzip gunzip bzip2 xz zstd
    rsync scp chmod chown chgrp unlink link mkfifo mknod split csplit cpio zip 7z 7za 7zr sqlite3
    sponge uudecode
    """
)
"""What can write or delete files: their arguments may not name places of the system."""

HARMLESS: Final = word_set(
    """
    ls cat head tail wc grep egrep fgrep zgrep uniq cut diff diff3 sdiff cmp comm file du df
    echo printf basename dirname readlink realpath stat pwd whoami id groups hostname uname
    uptime date cal seq factor test [ true false sleep jq tr tac nl rev paste join fold fmt
    column expand unexpand od xxd hexdump strings sha1sum sha224sum sha256sum sha384sum
    sha512sum md5sum b2sum cksum sum tree which type whereis locate mkdir touch cp mv rmdir ln
    rm chmod sort less more ping base64 base32 iconv numfmt shuf tsort cd umask ag ack rg man
    tldr apropos whatis history tput clear ps free lsof who w last env printenv nproc arch
    getconf look zcat bzcat xzcat read wait jobs times hd
    """
)
"""What does nothing but to print or to change the files that it names; text in it is only text."""

STARTS_OTHERS: Final = word_set(
    """
    exec execute run eval shell sh bash ssh console repl dlx run-script runscript invoke spawn
    install uninstall upgrade purge
    """
)
"""Subcommands that start programs or install them, whatever the program is called."""
