//! A headless browser for tests of web pages. It is the system's Chromium, which `apt-get install
//! chromium` installs; `.ci/run` does so if it can. Without Chromium, [`browser`] returns `None`,
//! and the test is skipped with a message.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use headless_chrome::browser::tab::point::Point;
use headless_chrome::protocol::cdp::Emulation::{
    MediaFeature, SetDeviceMetricsOverride, SetEmulatedMedia,
};
use headless_chrome::protocol::cdp::types::Event;
use headless_chrome::{Browser, LaunchOptions, Tab};
use serde_json::Value;

/// Longest time to wait for a condition. It is long, because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(40);

/// Starts a headless browser, or says that none is installed.
pub(crate) fn browser() -> Option<Browser> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path: &PathBuf| path.is_file());
    let Some(path) = path else {
        crate::common::skip("browser", "no Chromium is installed, so no page was looked at");
        return None;
    };
    let quiet = ["--disable-quic", "--disable-component-update", "--hide-scrollbars"];
    let options = LaunchOptions {
        path: Some(path),
        sandbox: false,
        window_size: Some((1280, 900)),
        args: quiet.iter().map(OsStr::new).collect(),
        idle_browser_timeout: Duration::from_secs(300),
        ..LaunchOptions::default()
    };
    Some(Browser::new(options).expect("the browser starts"))
}

pub(crate) struct Page {
    tab: Arc<Tab>,
    errors: Arc<Mutex<Vec<String>>>,
}

impl Page {
    pub(crate) fn open(browser: &Browser, file: &Path) -> Page {
        let file = file.canonicalize().expect("the file is there");
        Page::visit(browser, &format!("file://{}", file.display()))
    }

    pub(crate) fn visit(browser: &Browser, address: &str) -> Page {
        let tab = browser.new_tab().expect("a tab opens");
        tab.set_default_timeout(PATIENCE);
        let errors = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&errors);
        let listen = move |event: &Event| {
            let said = match event {
                Event::LogEntryAdded(entry) => format!("{:?}", entry.params.entry),
                Event::RuntimeConsoleAPICalled(call) => {
                    format!("{:?}: {:?}", call.params.Type, call.params.args)
                }
                Event::RuntimeExceptionThrown(thrown) => {
                    format!("{:?}", thrown.params.exception_details)
                }
                _ => return,
            };
            heard.lock().unwrap_or_else(PoisonError::into_inner).push(said);
        };
        tab.add_event_listener(Arc::new(listen)).expect("a listener is added");
        tab.enable_log().expect("messages are heard");
        tab.enable_runtime().expect("exceptions are heard");
        tab.navigate_to(address).expect("the page is asked for");
        tab.wait_until_navigated().expect("the page opens");
        Page { tab, errors }
    }

    pub(crate) fn console(&self) -> Vec<String> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn value(&self, expression: &str) -> Value {
        let wrapped = format!("JSON.stringify({expression})");
        let found =
            self.tab.evaluate(&wrapped, true).unwrap_or_else(|e| panic!("{expression}: {e}"));
        match found.value {
            Some(Value::String(text)) => serde_json::from_str(&text).expect("it is JSON"),
            other => panic!("{expression} is {other:?}"),
        }
    }

    pub(crate) fn act(&self, statements: &str) {
        self.value(&format!("(() => {{ {statements}; return true; }})()"));
    }

    pub(crate) fn wait(&self, expression: &str) {
        let begun = Instant::now();
        while self.value(&format!("Boolean({expression})")) != Value::Bool(true) {
            assert!(begun.elapsed() < PATIENCE, "never true: {expression}; {:?}", self.console());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Presses a key, given by its name such as `Tab` or `ArrowDown`.
    pub(crate) fn press(&self, key: &str) {
        self.tab.press_key(key).expect("the key is pressed");
    }

    /// Clicks a point of the window, in pixels.
    pub(crate) fn click(&self, x: f64, y: f64) {
        self.tab.click_point(Point { x, y }).expect("the point is clicked");
    }

    pub(crate) fn look(&self, width: u32, height: u32, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        self.lay_out(width, height, "screen", scheme);
        self.wait(&format!(
            "innerWidth === {width} && matchMedia('(prefers-color-scheme: {scheme})').matches"
        ));
    }

    /// Lays the page out for print, with the text `width` pixels wide.
    pub(crate) fn paper(&self, width: u32) {
        self.lay_out(width, 1000, "print", "light");
        self.wait(&format!("innerWidth === {width} && matchMedia('print').matches"));
    }

    fn lay_out(&self, width: u32, height: u32, media: &str, scheme: &str) {
        let size = SetDeviceMetricsOverride {
            width,
            height,
            device_scale_factor: 1.0,
            // A simulated phone would zoom out of a page that is too wide, which would hide the
            // overflow.
            mobile: false,
            scale: None,
            screen_width: None,
            screen_height: None,
            position_x: None,
            position_y: None,
            dont_set_visible_size: None,
            screen_orientation: None,
            viewport: None,
            display_feature: None,
            device_posture: None,
        };
        self.tab.call_method(size).expect("the size is set");
        let feature =
            MediaFeature { name: "prefers-color-scheme".to_owned(), value: scheme.to_owned() };
        let media =
            SetEmulatedMedia { media: Some(media.to_owned()), features: Some(vec![feature]) };
        self.tab.call_method(media).expect("the medium and the colours are set");
    }

    pub(crate) fn pdf(&self) -> Vec<u8> {
        self.tab.print_to_pdf(None).expect("the page is printed")
    }

    /// Pixels by which the page is wider than its window.
    pub(crate) fn overflow(&self) -> Value {
        self.value("document.documentElement.scrollWidth - innerWidth")
    }
}
